import { appendFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { makeExampleRun } from '../../test/fixtures/store/example-run.ts';
import {
  examplePlan,
  exampleRecord,
  exampleSpec,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { ask, get, startViewer } from '../../test/fixtures/viewer-place.ts';
import {
  ComparisonPage,
  ExperimentList,
  ExperimentName,
  ExperimentPage,
  FileList,
  FileText,
  ReportPage,
  RubricQuestion,
  RunPage,
  type RunRecord,
  SearchResult,
  StepDiff,
  StepPage,
  TaskPage,
  TextRest,
  Timeline,
  ViewerError,
  ViewerInfo,
} from '../schema/index.ts';
import { createExperiment, openExperiment } from '../store/index.ts';

const run = '/api/experiments/first/runs/digits-baseline-0';

async function example() {
  const scratch = temporaryFolder();
  const root = join(scratch, 'experiments');
  const { run: folder, snapshot } = await makeExampleRun(root);
  return { scratch, root, folder, snapshot };
}

describe('the answers of the viewer', () => {
  test('follow the contract at every address', async () => {
    const { scratch, root, snapshot } = await example();
    const viewer = await startViewer([root], scratch, { tasks: ['tasks'] });
    expect(await get(viewer, '/api/info', ViewerInfo)).toMatchObject({ source: 'server', mlab: '1.2.3' });
    const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
    expect(experiments).toMatchObject([{ id: 'first', runs: 2, states: { finished: 1, queued: 1 } }]);
    const page = await get(viewer, '/api/experiments/first', ExperimentPage);
    expect(page.runs.map(({ run, status }) => [run, status])).toEqual([
      ['digits-baseline-0', 'finished'],
      ['digits-noop-0', 'pending'],
    ]);
    expect(await get(viewer, run, RunPage)).toMatchObject({ steps: 2, status: 'finished', unreadable: null });
    expect(await get(viewer, '/api/experiments/first/runs/digits-noop-0', RunPage)).toMatchObject({
      ...{ steps: 0, status: 'pending', where: '', started: null, problem: null },
    });
    writeFileSync(join(root, 'first/executor.json'), '{"v":1,"on":"slurm"}\n');
    expect(await get(viewer, '/api/experiments/first/runs/digits-noop-0', RunPage)).toMatchObject({
      ...{ status: 'pending', where: 'slurm' },
    });
    const timeline = await get(viewer, `${run}/timeline`, Timeline);
    expect(timeline.action.map((index) => timeline.actions[index])).toEqual(['Write File', 'Execute Script']);
    await expect
      .poll(async () => (await get(viewer, `${run}/timeline`, Timeline)).summaries, { timeout: 30_000 })
      .toEqual([
        { step: 1, text: 'train.py: lr 0.1→0.01' },
        { step: 2, text: 'train.py: epoch 1: accuracy 0.93' },
      ]);
    expect(await get(viewer, `${run}/timeline?from=2&to=2`, Timeline)).toMatchObject({
      from: 2,
      action: [1],
      total: 2,
    });
    const search = await get(viewer, `${run}/search?q=ACCURACY 0.93`, SearchResult);
    expect(search).toMatchObject({
      hits: [{ step: 2, place: 'observation', match: 'accuracy 0.93', count: 60 }],
    });
    expect(await get(viewer, '/api/tasks/digits', TaskPage)).toMatchObject({ id: 'digits', runs: [{}, {}] });
    const diff = await get(viewer, `${run}/steps/1/diff`, StepDiff);
    expect(diff.files).toMatchObject([{ path: 'train.py', kind: 'modified', as: 'text' }]);
    expect(diff.files[0]?.patch).toContain('-lr = 0.1\n+lr = 0.01\n');
    expect(snapshot).toHaveLength(64);
  });

  test('say of each run what it does now, where, and what it waits for or why it failed', async () => {
    const scratch = temporaryFolder();
    const root = join(scratch, 'experiments');
    const ids = ['queued', 'starting', 'running', 'waiting', 'failed', 'unreadable'];
    const experiment = createExperiment(join(root, 'first'), examplePlan(ids));
    experiment.recordExecutor('slurm');
    const record = (id: string, changes: Partial<RunRecord>) =>
      experiment.runFolder(id).writeRecordSync(exampleRecord({ spec: exampleSpec(id), ...changes }));
    using _starting = experiment.runFolder('starting').lock();
    using _running = experiment.runFolder('running').lock();
    const gpus = { uuids: ['GPU-1'], held_seconds: 0, busy_seconds: null, peak_memory_bytes: null };
    record('running', { status: 'running', gpus });
    const waits_for = [{ branch: 'main' as never, step: 3, action: 'Edit File', decision: 'x' }];
    record('waiting', { status: 'waiting', waits_for });
    const end = { reason: 'infrastructure_error' as const, message: 'no\nbwrap', cause: 'sandbox' };
    record('failed', { status: 'failed', end });
    record('unreadable', { status: 'failed', end });
    writeFileSync(experiment.runFolder('unreadable').recordPath, '{');
    const viewer = await startViewer([root], scratch);
    const page = await get(viewer, '/api/experiments/first', ExperimentPage);
    const here = `${hostname()}, process ${process.pid}`;
    expect(page.runs.map(({ run, state, where, why }) => [run, state, where, why])).toEqual([
      ['queued', 'queued', 'slurm', ''],
      ['starting', 'starting', here, ''],
      ['running', 'running', `${here}, GPU-1`, ''],
      ['waiting', 'waiting', '', 'waits for a decision on step 3 (Edit File)'],
      ['failed', 'failed', '', 'sandbox: no bwrap'],
      ['unreadable', 'failed', '', 'its files cannot be read'],
    ]);
    expect(page.line.states).toMatchObject({ queued: 1, starting: 1, running: 1, waiting: 1, failed: 2 });
    _starting.release();
    await expect
      .poll(async () => (await get(viewer, '/api/experiments/first', ExperimentPage)).line.states)
      .toMatchObject({ queued: 2, starting: 0 });
  });

  test('call an experiment unfinished where its runs failed, as reports do', async () => {
    const scratch = temporaryFolder();
    const root = join(scratch, 'experiments');
    const experiment = createExperiment(join(root, 'first'), examplePlan(['a', 'b']));
    const end = { reason: 'infrastructure_error' as const, message: 'no bwrap' };
    const record = (id: string, changes: Partial<RunRecord>) =>
      experiment.runFolder(id).writeRecordSync(exampleRecord({ spec: exampleSpec(id), ...changes }));
    for (const id of ['a', 'b']) record(id, { status: 'failed', end });
    const viewer = await startViewer([root], scratch);
    const state = async () => (await get(viewer, '/api/experiments/first', ExperimentPage)).line.state;
    await expect.poll(state).toBe('unfinished');
  });

  test('show the ratings of a run by model, separately for each prompt', async () => {
    const { scratch, root, folder } = await example();
    const rate = (model: string, prompt: string, rating: number | null) => {
      const quote = `a quote\u001b[31m\n${'x'.repeat(1000)}`;
      const ratings = RubricQuestion.options.map((question) => ({
        question,
        rating: rating ?? 1,
        step: 2,
        quote,
      }));
      folder.appendJudgement({
        ...{ v: 1, time: 1, model, answered_by: null, prompt: prompt.repeat(64), tries: 1, cost: null },
        ...{ tokens: { input: 1, output: 1 }, ratings: rating === null ? null : ratings },
        problem: rating === null ? 'It is far too long.' : null,
      });
    };
    rate('openai/a', '0', 4);
    rate('openai/a', '0', null);
    rate('openai/a', '0', 5);
    rate('openai/a', '1', 1);
    rate('openai/b', '0', null);
    const viewer = await startViewer([root], scratch);
    const { ratings } = await get(viewer, run, RunPage);
    expect(
      ratings.map(({ model, repeats, unread, questions }) => [model, repeats, unread, questions[2]?.mean]),
    ).toEqual([
      ['openai/a', 3, 1, 4.5],
      ['openai/a', 1, 0, 1],
      ['openai/b', 1, 1, null],
    ]);
    expect(ratings[0]?.questions[2]).toMatchObject({
      question: 'honesty',
      ratings: [{ rating: 4, step: 2, quote: expect.stringMatching(/^a quote x{291}…$/) }, { rating: 5 }],
    });
  });

  test('show the first of very many notes of a step, the number of the others, and earlier ones', async () => {
    const { scratch, root, snapshot } = await example();
    const folder = openExperiment(join(root, 'first')).runFolder('digits-noop-0');
    const many = Array.from({ length: 75_000 }, (_, index) => [`name ${index}`, { text: 'x' }]);
    {
      using _lease = folder.lock();
      await using trace = folder.openTrace();
      trace.append(sessionStarted(snapshot));
      for (const text of ['one', 'two']) trace.append({ kind: 'note', entries: { Plan: { text } } });
      for (let times = 0; times < 2; times += 1)
        trace.append({ kind: 'note', entries: Object.fromEntries(many) });
      trace.append(stepStarted(1));
      trace.append(stepFinished(1, snapshot));
      trace.append({ kind: 'note', entries: { Plan: { text: 'three' }, New: { text: 'x' } } });
      trace.append(stepStarted(2));
      trace.append(stepFinished(2, snapshot));
    }
    folder.writeRecordSync(exampleRecord({ spec: exampleSpec('digits-noop-0'), steps: 2 }));
    const viewer = await startViewer([root], scratch);
    const stepOf = (step: number) =>
      get(viewer, `/api/experiments/first/runs/digits-noop-0/steps/${step}`, StepPage);
    const { entries, more_entries } = await stepOf(1);
    expect(entries.length + more_entries).toBe(150_002);
    expect(entries.length).toBeLessThan(1_000);
    expect(entries.slice(0, 2)).toMatchObject([
      { name: 'Plan', text: { text: 'one' }, before: null },
      { name: 'Plan', text: { text: 'two' }, before: { step: 1, text: { text: 'one' } } },
    ]);
    expect((await stepOf(2)).entries).toMatchObject([
      { name: 'Plan', before: { step: 1, text: { text: 'two' } } },
      { name: 'New', before: null },
    ]);
  });

  test('show a whole step: notes, calls, action, observation and workspace', async () => {
    const { scratch, root } = await example();
    const viewer = await startViewer([root], scratch);
    const first = await get(viewer, `${run}/steps/1`, StepPage);
    expect(first.entries).toMatchObject([{ name: 'Reflection', before: null }]);
    expect(first.calls).toHaveLength(1);
    expect(first.arguments).toMatchObject([
      { name: 'file_name', text: { text: 'train.py' }, is_text: true },
      { name: 'content', text: { text: 'lr = 0.01\n' } },
    ]);
    const second = await get(viewer, `${run}/steps/2`, StepPage);
    expect(second).toMatchObject({ action: 'Execute Script', status: 'ok', cpu_seconds: 1.31, output: null });
    expect(second.observation?.text).toBe('epoch 1: accuracy 0.93\n'.repeat(60));
    expect(await get(viewer, `${run}/steps/0`, StepPage)).toMatchObject({ action: null, observation: null });
  });

  test('serve the files of a step by the hashes of their contents', async () => {
    const { scratch, root } = await example();
    const viewer = await startViewer([root], scratch);
    const { files } = await get(viewer, `${run}/steps/1/files`, FileList);
    expect(files.map(({ path, kind, change }) => [path, kind, change])).toEqual([
      ['models', 'folder', null],
      ['train.py', 'file', 'modified'],
    ]);
    const object = files[1]?.object;
    const address = `/api/experiments/first/objects/${object}`;
    expect(await get(viewer, address, FileText)).toEqual({ object, bytes: 10, text: 'lr = 0.01\n' });
    const raw = await ask(viewer, `${address}/raw`);
    expect(raw.text).toBe('lr = 0.01\n');
    expect(raw.headers.get('content-type')).toBe('application/octet-stream');
    expect(raw.headers.get('content-disposition')).toMatch(/^attachment; filename="[\w.-]+"$/);
  });

  test('compare two versions of an agent by the names that the report gives them', async () => {
    const { scratch, root } = await example();
    const experiment = ExperimentName.parse('versions');
    const runs = ['1', '2'].map((digit) => ({
      ...exampleSpec(`climber-${digit}`),
      ...{ experiment, agent_version: `sha256:${digit.repeat(64)}` },
    }));
    const versions = createExperiment(join(root, 'versions'), { ...examplePlan(), name: experiment, runs });
    for (const spec of runs) versions.runFolder(spec.id).writeRecordSync(exampleRecord({ spec }));
    const viewer = await startViewer([root], scratch);
    const made = async () => await get(viewer, '/api/experiments/versions/report', ReportPage);
    await expect.poll(async () => (await made()).pending).toBeNull();
    const [a, b] = new Set((await made()).report?.runs.map(({ agent }) => agent));
    expect(a).toMatch(/@/);
    const address = `/api/compare?a=${a}&b=${b}&experiment=versions`;
    await expect.poll(async () => (await get(viewer, address, ComparisonPage)).pending).toBeNull();
    const { comparison } = await get(viewer, address, ComparisonPage);
    expect(comparison).toMatchObject({ a, b });
  });

  test('report the progress while the report is made in the background', async () => {
    const { scratch, root } = await example();
    const viewer = await startViewer([root], scratch);
    let page = await get(viewer, '/api/experiments/first/report', ReportPage);
    for (const end = Date.now() + 10_000; page.pending !== null && Date.now() < end; ) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      page = await get(viewer, '/api/experiments/first/report', ReportPage);
    }
    expect(page.report?.runs.map(({ run }) => run)).toEqual(['digits-baseline-0', 'digits-noop-0']);
    let known = await get(viewer, run, RunPage);
    for (
      const end = Date.now() + 10_000;
      known.pending && Date.now() < end;
      known = await get(viewer, run, RunPage)
    )
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(known.evaluation?.grades).toMatchObject([{ step: 2, score: 0.93 }]);
    expect(await get(viewer, `${run}/timeline`, Timeline)).toMatchObject({
      ...{ pending: false, grades: [{ step: 2, score: 0.93 }] },
    });
    expect(await get(viewer, `${run}/steps/2`, StepPage)).toMatchObject({
      grade: { score: 0.93, problems: [] },
    });
  });

  test('cut long texts, and give the rest in adjoining ranges', async () => {
    const { scratch, root, folder } = await example();
    const long = `${'0123456789'.repeat(15_000)}👍 end`;
    await using trace = folder.openTrace();
    const budget = {
      steps_left: 1,
      seconds_left: 1,
      steps_used: 3,
      seconds_used: 3,
      tokens_left: null,
      money_left: null,
    };
    const none = { present: false, hash: null, written_at_step: null, stale: false };
    trace.append({ kind: 'step_started', step: 3, action: 'Execute Script', args: { text: '{}' } });
    trace.append({
      ...{
        kind: 'step_finished',
        step: 3,
        status: 'ok',
        observation: trace.textRef(long),
        duration_ms: 1,
        exit_code: 0,
      },
      ...{
        snapshot: (await example()).snapshot,
        changed: [],
        changed_count: 0,
        undo: [],
        undone: [],
        submission: none,
      },
      ...{ budget, overhead_ms: 1 },
    });
    const viewer = await startViewer([root], scratch);
    const { observation } = await get(viewer, `${run}/steps/3`, StepPage);
    expect(observation).toMatchObject({ length: long.length, part: 'observation' });
    const shown = observation?.text ?? '';
    const rest = await get(viewer, `${run}/steps/3/text?part=observation&from=${shown.length}`, TextRest);
    expect(shown + rest.text).toBe(long);
    expect((await ask(viewer, `${run}/steps/3/raw?part=observation`)).text).toBe(long);
    expect((await ask(viewer, `${run}/steps/3/text?part=nothing`)).status).toBe(404);
  });

  test('are compressed if the client accepts it', async () => {
    const { scratch, root } = await example();
    const viewer = await startViewer([root], scratch);
    const raw = await new Promise<Buffer>((resolve, reject) => {
      const headers = { 'accept-encoding': 'gzip' };
      request({ port: viewer.port, path: `${run}/steps/2`, headers }, async (response) => {
        expect(response.headers['content-encoding']).toBe('gzip');
        resolve(Buffer.concat(await response.toArray()));
      })
        .on('error', reject)
        .end();
    });
    expect(StepPage.parse(JSON.parse(gunzipSync(raw).toString())).step).toBe(2);
  });
});

describe('damaged files', () => {
  test('an experiment with a broken plan is listed with its problem among the others', async () => {
    const { scratch, root } = await example();
    mkdirSync(join(root, 'torn'));
    writeFileSync(join(root, 'torn/plan.json'), '{"v":1,');
    const viewer = await startViewer([root], scratch);
    const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
    const torn = experiments.find(({ id }) => id === 'torn');
    expect(torn).toMatchObject({ state: 'unreadable', runs: 0 });
    expect(torn?.message).toContain('is not JSON');
    expect(await get(viewer, '/api/experiments/torn', ExperimentPage)).toMatchObject({
      plan: null,
      runs: [],
    });
    const report = await ask(viewer, '/api/experiments/torn/report');
    expect(ViewerError.parse(JSON.parse(report.text)).code).toBe('broken_experiment');
  });

  test.each([
    ['executor.json', '{"v":1,'],
    ['executor.json', '{"v":2,"on":"x"}'],
    ['unqueued.json', '{"v":1,"groups":['],
  ])('a broken %s is a problem of its experiment only, until it is repaired: %s', async (name, text) => {
    const { scratch, root } = await example();
    cpSync(join(root, 'first'), join(root, 'a-bad'), { recursive: true });
    writeFileSync(join(root, 'a-bad', name), text);
    const viewer = await startViewer([root], scratch);
    const stateOf = async (id: string) => (await get(viewer, `/api/experiments/${id}`, ExperimentPage)).line;
    await expect.poll(() => stateOf('a-bad')).toMatchObject({ state: 'unreadable' });
    expect((await stateOf('a-bad')).message).toContain(name);
    await expect.poll(() => stateOf('first')).toMatchObject({ states: { finished: 1 }, message: null });
    const { experiments } = await get(viewer, '/api/experiments', ExperimentList);
    expect(experiments.map(({ id }) => id).sort()).toEqual(['a-bad', 'first']);
    rmSync(join(root, 'a-bad', name));
    expect(await stateOf('a-bad')).toMatchObject({ states: { finished: 1 }, message: null });
  });

  test('a trace with a torn end and one with a broken line show the steps before that', async () => {
    const { scratch, root, folder } = await example();
    appendFileSync(folder.tracePath, '{"v":1,"seq":');
    const viewer = await startViewer([root], scratch);
    expect(await get(viewer, run, RunPage)).toMatchObject({ steps: 2, unreadable: null, torn_bytes: 13 });
    appendFileSync(folder.tracePath, '\nmore\n');
    const page = await get(viewer, run, RunPage);
    expect(page).toMatchObject({ steps: 2, torn_bytes: 0 });
    expect(page.unreadable).toMatch(/^Line \d+ of its trace can't be read/);
    expect(await get(viewer, `${run}/steps/2`, StepPage)).toMatchObject({ status: 'ok' });
  });

  test('a missing object removes only its text from a step', async () => {
    const { scratch, root, folder } = await example();
    rmSync(folder.objects.folder, { recursive: true });
    const viewer = await startViewer([root], scratch);
    const step = await get(viewer, `${run}/steps/2`, StepPage);
    expect(step).toMatchObject({ action: 'Execute Script', status: 'ok', observation: { text: '' } });
    expect(step.observation?.unreadable).toMatch(/is missing/);
    expect(ViewerError.parse(JSON.parse((await ask(viewer, `${run}/steps/2/files`)).text)).code).toBe(
      'object_missing',
    );
  });

  test('a broken record is reported in its line and on its page', async () => {
    const { scratch, root, folder } = await example();
    writeFileSync(folder.recordPath, '[]');
    const viewer = await startViewer([root], scratch);
    const { runs } = await get(viewer, '/api/experiments/first', ExperimentPage);
    expect(runs[0]?.unreadable).toContain('run.json is not as expected');
    expect((await get(viewer, run, RunPage)).unreadable).toContain('run.json is not as expected');
  });
});
