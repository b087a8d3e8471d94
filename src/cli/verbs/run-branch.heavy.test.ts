import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { mlab, startMlab } from '../../../test/fixtures/mlab-process.ts';
import { describeInSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { ModelRegistry } from '../../models/index.ts';
import { experimentModels } from '../../runs/index.ts';
import { openExperiment } from '../../store/index.ts';

const bench = new TaskBench();
const place = { folder: bench.folder, variables: { MLAB_CACHE: bench.cache } };
const script = join(bench.folder, 'replies.jsonl');
afterAll(() => bench[Symbol.dispose]());

const run = (...argv: string[]) => mlab(['--task-dir', fixtureTasks, ...argv], place);
const json = async (...argv: string[]) => JSON.parse((await run(...argv, '--json')).out);
const opened = () => openExperiment(join(bench.folder, 'experiments', 'first'));
const filesOf = (folder: string) =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('lease') && statSync(join(folder, name)).isFile())
      .map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );

/** Another sample of the model: the same call of it gets another reply. */
function replies(...contents: string[]): void {
  const calls = contents.map((content) => ({
    name: 'Write_File',
    input: { file_name: 'notes.txt', content },
  }));
  const finish = { name: 'Final_Answer', input: { final_answer: 'done' } };
  const lines = [...calls, finish, finish].map((call) => ({
    tool_calls: [call],
    usage: { input: 900, output: 100 },
  }));
  writeFileSync(script, lines.map((line) => JSON.stringify(line)).join('\n'));
}

const original = 'first/sums-tools-scripted-replies-jsonl-0';

describeInSandbox('mlab run --from within an experiment', () => {
  beforeAll(async () => {
    replies('one', 'two');
    const file = join(bench.folder, 'first.yaml');
    const price = { input: 1000, output: 1000, date: '2026-01-01', source: 'this test' };
    const prices = { 'scripted/replies.jsonl': price };
    const plan = { name: 'first', tasks: ['sums'], agents: ['tools'], models: Object.keys(prices), prices };
    writeFileSync(file, JSON.stringify({ ...plan, spend: { money: 100 }, limits: { script_seconds: 3 } }));
    const { code, err } = await run('run', file, '--yes');
    if (code !== 0) throw new Error(err);
  }, 120_000);

  test('begins a branch of the run, and leaves the run, its plan and every report of it unchanged', async () => {
    const before = filesOf(join(bench.folder, 'experiments', 'first', 'runs'));
    const [plan, report] = [
      readFileSync(join(opened().folder, 'plan.json')),
      await run('report', 'first', '--format', 'json'),
    ];
    replies('one', 'another way', 'and on');
    const { code, out, err } = await run('run', '--from', original, '--step', '1');
    expect([code, err]).toEqual([0, expect.not.stringContaining('rror')]);
    expect(out).toMatch(
      /-from-1: a branch of sums-tools.*-0 from step 1\nfinal_answer after 4 steps, 3 of its own/,
    );
    expect(readdirSync(join(bench.folder, 'experiments')).filter((name) => !name.startsWith('.'))).toEqual([
      'first',
    ]);
    expect(readFileSync(join(opened().folder, 'plan.json'))).toEqual(plan);
    expect(filesOf(join(opened().folder, 'runs'))).toMatchObject(before);
    const { branches, ...rest } = JSON.parse((await run('report', 'first', '--format', 'json')).out);
    expect(rest).toEqual(JSON.parse(report.out));
    expect(branches).toEqual({ money: 4, estimated: false, unpriced: 0 });
  }, 120_000);

  test('counts steps, tokens and money of the branch once: the shared part was paid for by its run', async () => {
    const registry = new ModelRegistry({ variables: {}, folder: bench.folder });
    const [own] = opened().plan.runs;
    const [branch] = opened().branches;
    const recordOf = (id = '') => opened().runFolder(id).readRecord();
    expect(recordOf(own?.id)).toMatchObject({ steps: 3, spent: { calls: 4, tokens: 4000, money: 4 } });
    expect(recordOf(branch?.run.id)).toMatchObject({
      ...{ steps: 4, spent: { calls: 5, tokens: 5000, money: 5 } },
      shared: { steps: 1, spent: { calls: 1, tokens: 1000, money: 1 } },
    });
    const { shared } = experimentModels(opened().plan, { registry, experiment: opened() }) ?? {};
    // Four calls of the run, and the branch's own four.
    expect(shared?.spent).toEqual({ tokens: 8000, money: 8 });
    const { begun } = await json('runs', 'show', original);
    expect(begun).toMatchObject([{ run: { parent: { step: 1 } } }]);
    expect((await run('runs', 'ls', 'first')).out).toMatch(/jsonl-0-from-1 +finished +4 /);
    expect((await run('runs', 'show', original)).out).toMatch(
      /branch sums-.*-from-1, begun by \S+ from step 1: 4 steps, 3 of its own; final_answer, /,
    );
  }, 120_000);

  test('is found again by the same command; another name begins another branch, another limit a fork', async () => {
    const again = await run('run', '--from', original, '--step', '1');
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('kept (final_answer)')]);
    expect((await run('run', '--from', original, '--step', '1', '--branch', 'second')).code).toBe(0);
    expect(opened().branches.map(({ run: { id } }) => id.replace(/.*jsonl-0-/, ''))).toEqual([
      'from-1',
      'second',
    ]);
    expect((await run('run', '--from', original, '--step', '2', '--branch', 'second')).err).toContain(
      'from step 1',
    );
    const other = await run('run', '--from', original, '--step', '1', '--steps', '9');
    expect(other.out).toContain('sums-tools-scripted-replies-jsonl-0-from-1-');
    expect(opened().branches.length).toBe(2);
    const refused = await run('run', '--from', original, '--step', '1', '--steps', '9', '--branch', 'x');
    expect([refused.code, refused.err]).toEqual([
      2,
      expect.stringContaining('has the models, limits, options and sandbox'),
    ]);
  }, 180_000);

  test('is a fork if the sandbox differs; what its run cannot have is refused', async () => {
    const argv = ['run', '--from', original, '--step', '1', '--dry-run'];
    const planned = async (...more: string[]) => (await json(...argv, ...more)).runs[0];
    const branch = await planned();
    expect(branch).toMatchObject({ sandbox: 'bubblewrap', gpu: false, caveats: [] });
    // The task needs no GPU.
    expect(await planned('--gpu')).toEqual(branch);
    expect(await planned('--sandbox', 'bubblewrap')).toEqual(branch);
    expect(await planned('--sandbox', 'docker', '--docker-image', 'python:3.13')).toMatchObject({
      ...{ sandbox: 'docker', docker_image: 'python:3.13', experiment: expect.stringMatching(/-from-1-/) },
    });
    expect(await planned('--sandbox', 'none')).toMatchObject({ caveats: ['no sandbox'] });
    const refused = await run(...argv, '--sample');
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('Leave out --sample')]);
  }, 120_000);

  test('is graded, checked and replayed with its run or by its own name, and can have branches itself', async () => {
    const { grades } = await json('grade', original, '--steps', 'all');
    const graded = (ending: string) =>
      grades.filter(({ run: id }: { run: string }) => id.endsWith(ending)).length;
    expect([graded('jsonl-0'), graded('-from-1'), graded('second')]).toEqual([4, 5, 5]);
    expect((await json('runs', 'check', original)).runs).toMatchObject([
      { problems: [] },
      { problems: [] },
      { problems: [] },
    ]);
    expect((await json('runs', 'replay', original)).runs).toMatchObject([
      ...[
        { diverged: null, steps: 3 },
        { diverged: null, steps: 4 },
        { diverged: null, steps: 4 },
      ],
    ]);
    const deeper = await run('run', '--from', `${original}-from-1`, '--step', '2');
    expect(deeper.out).toMatch(
      /-from-1-from-2: a branch of sums-.*-from-1 from step 2\nfinal_answer after 4 steps, 2 of its own/,
    );
    expect((await run('runs', 'show', original)).out).toMatch(
      /-from-1-from-2, begun by \S+ from sums-.*-from-1 step 2/,
    );
  }, 180_000);

  test('resumes a killed branch from its last recorded step, with its usage counted once', async () => {
    const slow = { name: 'Run_Command', input: { command: 'sleep 600' } };
    const lines = [{ name: 'Write_File', input: { file_name: 'notes.txt', content: 'one' } }, slow];
    const usage = { input: 900, output: 100 };
    writeFileSync(script, lines.map((call) => JSON.stringify({ tool_calls: [call], usage })).join('\n'));
    const argv = ['run', '--from', original, '--step', '1', '--branch', 'killed'];
    const started = startMlab(['--task-dir', fixtureTasks, ...argv], place);
    const folder = join(opened().folder, 'runs', 'sums-tools-scripted-replies-jsonl-0-killed');
    const isWaiting = () =>
      existsSync(join(folder, 'trace.jsonl')) &&
      readFileSync(join(folder, 'trace.jsonl'), 'utf8').includes('sleep 600');
    while (!isWaiting()) await sleep(20);
    started.process.kill('SIGKILL');
    await started.ended;
    writeFileSync(script, '');
    replies('one', 'two');
    const { code, out, err } = await run('--log-level', 'warn', ...argv);
    expect([code, err]).toEqual([0, expect.stringContaining('resumed')]);
    expect(err).toMatch(new RegExp(`taken over from process ${started.process.pid} `));
    expect(err).toMatch(/"event":"lease_taken_over".*"epoch":2,"silent":false/);
    expect(out).toContain('of its own');
    const record = opened().runFolder('sums-tools-scripted-replies-jsonl-0-killed').readRecord();
    expect(record).toMatchObject({ status: 'finished', shared: { steps: 1, spent: { calls: 1 } } });
    expect((await run('runs', 'check', `${original}-killed`)).code).toBe(0);
  }, 120_000);
});
