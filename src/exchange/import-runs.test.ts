import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  logFolderFiles,
  type MadeUpRun,
  madeUpRun,
  packedFiles,
  problem,
  replyWith,
  writeFiles,
} from '../../test/fixtures/original-run.ts';
import { traceText } from '../../test/fixtures/store/trace-text.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { sha256 } from '../lib/hash.ts';
import type { TraceEvent, TraceEventOf } from '../schema/index.ts';
import { checkRun, type RunFolder, readSnapshot, readTraceSync } from '../store/index.ts';
import { type ImportResult, importOriginalRuns } from './index.ts';

const tasks = join(import.meta.dirname, '../../tasks');
const place = 'llama/digits/3';

async function importFolder(folder: string, experiments: string, name = 'imported'): Promise<ImportResult> {
  return await importOriginalRuns({
    ...{ folders: [folder], name, experiments, taskFolders: [tasks], sandbox: 'none', version: '0' },
    ...{ onProgress: () => {}, signal: new AbortController().signal },
  });
}

/** Writes a synthetic run, imports it, and returns it. */
async function imported(files: ReadonlyMap<string, string | Buffer>): Promise<Imported> {
  const scratch = temporaryFolder();
  writeFiles(join(scratch, 'logs', place), files);
  return await importedFrom(scratch);
}

interface Imported {
  scratch: string;
  result: ImportResult;
  folder: RunFolder;
  events: TraceEvent[];
}

async function importedFrom(scratch: string): Promise<Imported> {
  const result = await importFolder(join(scratch, 'logs'), join(scratch, 'experiments'));
  const [id = ''] = result.experiment.runIds;
  const folder = result.experiment.runFolder(id);
  return { scratch, result, folder, events: readTraceSync(folder.tracePath).events };
}

function of<Kind extends TraceEvent['kind']>(events: readonly TraceEvent[], kind: Kind) {
  return events.filter((event): event is TraceEventOf<Kind> => event.kind === kind);
}

function filesOf(
  { folder }: Imported,
  snapshot: TraceEventOf<'step_finished'>['snapshot'] | null | undefined,
) {
  if (snapshot === null || snapshot === undefined) return null;
  const { entries } = readSnapshot(folder.objects, snapshot);
  return Object.fromEntries(
    entries.flatMap((entry) =>
      'object' in entry ? [[entry.path, folder.objects.getText(entry.object)]] : [],
    ),
  );
}

const forms = [
  {
    form: 'log folder',
    files: (run: MadeUpRun) => logFolderFiles(run) as ReadonlyMap<string, string | Buffer>,
  },
  {
    form: 'packed form',
    files: (run: MadeUpRun) => packedFiles(run) as ReadonlyMap<string, string | Buffer>,
  },
];

describe.each(forms)('a run of the original in its $form', ({ files }) => {
  test('becomes a run of the store, step by step, and passes the check of its files', async () => {
    const run = madeUpRun();
    const found = await imported(files(run));
    const { events, folder, result } = found;
    expect(await checkRun(folder)).toEqual([]);
    expect(result.runs).toMatchObject([
      {
        run: 'digits-llama-3',
        task: 'digits',
        known_task: true,
        steps: 10,
        model_calls: 11,
        state: 'imported',
      },
    ]);
    expect(folder.readRecord()).toMatchObject({
      ...{ status: 'finished', end: { reason: 'final_answer' }, steps: 10, seconds_used: 100 },
      spec: { model: 'mlagentbench/llama', seed: 3, caveats: ['imported from mlagentbench'] },
    });
    expect(of(events, 'step_started').map(({ action }) => action)).toEqual(run.steps.map(({ name }) => name));
    for (const [index, { snapshot }] of of(events, 'step_finished').entries())
      expect(filesOf(found, snapshot)).toEqual(run.steps[index]?.files);
    expect(filesOf(found, of(events, 'run_ended')[0]?.snapshot)).toEqual(run.final);
  });

  test('has calls, notes and steps in the order in which our own agent would write them', async () => {
    const { events } = await imported(files(madeUpRun()));
    const kinds = events.map((event) =>
      event.kind === 'model_call'
        ? `${event.role} ${event.step}`
        : event.kind === 'step_started'
          ? `step ${event.step}`
          : event.kind === 'note'
            ? 'Format error' in event.entries
              ? 'format error'
              : 'note'
            : event.kind === 'step_finished'
              ? 'done'
              : event.kind,
    );
    expect(kinds).toEqual([
      'session_started',
      ...['agent null', 'note', 'step 1', 'fast 1', 'done', 'fast null', 'step 2', 'done'],
      ...['agent null', 'note', 'step 3', 'editor 3', 'done', 'fast null', 'step 4', 'done'],
      // Its action could not be read, so it led only to the entry in the log, and to no step.
      ...['agent null', 'format error', 'step 5', 'done'],
      ...['agent null', 'format error', 'agent null', 'note', 'step 6', 'done', 'step 7', 'done'],
      ...['step 8', 'fast 8', 'done', 'agent null', 'note', 'step 9', 'done', 'step 10', 'done'],
      'run_ended',
    ]);
  });

  test('keeps texts, tokens, low-level steps, times and what a model wrote', async () => {
    const { events } = await imported(files(madeUpRun()));
    const [started] = of(events, 'session_started');
    expect(started?.task).toEqual({
      ...{ problem: { text: problem }, entry: 'train.py', submission: expect.any(Array) },
    });
    const [call] = of(events, 'model_call');
    expect(call).toMatchObject({
      ...{ model: 'mlagentbench/llama', cost: null, max_output_tokens: 500, answered_by: null },
      usage: { input: 'Begin.'.length, source: 'estimate' },
    });
    expect(call?.messages).toEqual([{ text: '{"role":"user","text":"Begin."}' }]);
    expect(of(events, 'note')[0]?.entries).toMatchObject({
      'Research Plan and Status': { text: '1. measure **now**\n2. improve' },
      Thought: { text: 'do it' },
    });
    const done = of(events, 'step_finished');
    expect(done.map(({ by_model = false }) => by_model)).toEqual(
      [1, 0, 1, 0, 0, 0, 0, 1, 0, 0].map((flag) => flag === 1),
    );
    expect(done.map(({ inner = [] }) => inner.length)).toEqual([1, 1, 2, 1, 1, 1, 1, 0, 0, 0]);
    expect(done.map(({ status }) => status)).toEqual([...Array(9).fill('ok'), 'closed']);
    // 5 s from the entry in the log to the end of the run are the last reply's and the script's.
    expect(done[5]).toMatchObject({
      duration_ms: 20_000,
      time: 1_700_000_070_000,
      changed: ['submission.csv'],
    });
    expect(done[8]?.budget.seconds_used).toBe(95);
    expect(done[2]?.changed).toEqual(['backup/train.py_1', 'train.py']);
  });

  test('is imported again without any change, and gives the same bytes elsewhere', async () => {
    const { scratch, folder } = await imported(files(madeUpRun()));
    const trace = traceText(folder.tracePath);
    const again = await importFolder(join(scratch, 'logs'), join(scratch, 'experiments'));
    expect(again.runs.map(({ state }) => state)).toEqual(['there already']);
    expect(traceText(folder.tracePath)).toBe(trace);
    const elsewhere = await importFolder(join(scratch, 'logs'), join(scratch, 'elsewhere'));
    const [id = ''] = elsewhere.experiment.runIds;
    expect(traceText(elsewhere.experiment.runFolder(id).tracePath)).toBe(trace);
  });

  test('is imported again if an earlier import was killed half way', async () => {
    const { scratch, folder } = await imported(files(madeUpRun()));
    const trace = traceText(folder.tracePath);
    rmSync(folder.recordPath);
    writeFileSync(folder.tracePath, trace.slice(0, 1000));
    const again = await importFolder(join(scratch, 'logs'), join(scratch, 'experiments'));
    expect(again.runs.map(({ state }) => state)).toEqual(['imported']);
    expect(traceText(folder.tracePath)).toBe(trace);
  });

  test('loses no complete step, and nothing throws, if any of its files is truncated anywhere', async () => {
    const whole = files(madeUpRun());
    const names = [...whole.keys()].filter((name) => !name.includes('_files/'));
    const cut = fc.record({
      name: fc.constantFrom(...names),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    await fc.assert(
      fc.asyncProperty(cut, async ({ name, share }) => {
        const content = Buffer.from(whole.get(name) ?? '');
        const torn = content.subarray(0, Math.floor(share * content.length));
        const { folder, events } = await imported(new Map([...whole, [name, torn]]));
        expect(await checkRun(folder)).toEqual([]);
        const steps = of(events, 'step_finished').length;
        if (!name.includes('trace')) expect(steps).toBe(10);
        if (name.endsWith('trace.json')) expect(steps).toBeGreaterThanOrEqual(stepsIn(torn.toString()));
        if (steps < 10) expect(folder.readRecord()?.spec.caveats.join()).toMatch(/trace/);
      }),
      { numRuns: 25 },
    );
  });

  test('is imported without each of its files', async () => {
    const whole = files(madeUpRun());
    for (const name of [...whole.keys()].filter((path) => !/step_[1-8]_files/.test(path))) {
      const rest = new Map([...whole].filter(([other]) => other !== name));
      const { folder } = await imported(rest);
      expect(await checkRun(folder)).toEqual([]);
    }
  });
});

/** Complete steps in a truncated trace, counted by the last field of each; the array of steps comes first. */
function stepsIn(text: string): number {
  const [steps = ''] = text.split('"low_level_steps"');
  return steps.split(/"timestamp": \d+\s*\n\s*\}/).length - 1;
}

test('an unknown content is left out of its workspaces, named in them, and counted in a caveat', async () => {
  const run = madeUpRun();
  const files = new Map([...packedFiles(run)].filter(([name]) => name !== 'final_files/submission.csv'));
  const found = await imported(files);
  const last = of(found.events, 'run_ended')[0];
  const workspace = filesOf(found, last?.snapshot) ?? {};
  expect(Object.keys(workspace).sort()).toEqual(
    ['.mlab-not-recorded.tsv', ...Object.keys(run.final).filter((path) => path !== 'submission.csv')].sort(),
  );
  expect(workspace['.mlab-not-recorded.tsv']).toMatch(/^"submission\.csv"\t16\t[0-9a-f]{16}$/m);
  expect(last?.submission).toMatchObject({ present: true, hash: null, written_at_step: 6 });
  expect(found.folder.readRecord()?.spec.caveats).toContain('partial: contents of 8 of 9 file versions');
});

test('a stored content that a listing names with another size is left out', async () => {
  const files = packedFiles(madeUpRun());
  const listing = gunzipSync(files.get('snapshots.tsv.gz') ?? '').toString();
  const forged = listing.replace(
    /^(final\ttrain\.py\t)\d+\t[0-9a-f]+$/m,
    (_, start) => `${start}3\t${sha256('print("0.25")\n')}`,
  );
  const found = await imported(files.set('snapshots.tsv.gz', gzipSync(forged)));
  expect(await checkRun(found.folder)).toEqual([]);
  const workspace = filesOf(found, of(found.events, 'run_ended')[0]?.snapshot) ?? {};
  expect(Object.keys(workspace)).not.toContain('train.py');
  expect(workspace['.mlab-not-recorded.tsv']).toContain('"train.py"\t3\t');
});

test('a text is found with Windows line endings', async () => {
  const run = madeUpRun();
  const windows = 'print("0.25")\r\n';
  for (const step of run.steps)
    if (step.files['train.py'] !== 'print("0.5")\n') step.files['train.py'] = windows;
  const found = await imported(
    new Map([...packedFiles(run)].filter(([name]) => name !== 'final_files/train.py')),
  );
  expect(filesOf(found, of(found.events, 'step_finished')[2]?.snapshot)?.['train.py']).toBe(windows);
});

test('without a log of the agent, the names of actions connect replies with steps', async () => {
  const run = madeUpRun();
  const isLog = ({ name }: { name: string }) => /Research Log/.test(name);
  const found = await imported(
    logFolderFiles({ ...run, steps: run.steps.filter((step) => !isLog(step)), toolCalls: [] }),
  );
  const kinds = found.events.flatMap((event): (string | number)[] =>
    event.kind === 'step_started'
      ? [event.action]
      : event.kind === 'note'
        ? [Object.keys(event.entries).length]
        : [],
  );
  expect(kinds).toEqual([
    4,
    'Understand File',
    4,
    'Edit Script (AI)',
    5,
    1,
    4,
    'Execute Script',
    4,
    'Final Answer',
  ]);
});

test.each([
  {
    of: 'an exception',
    change: { error: 'Traceback\n  x\nRetryError: Deadline of 60.0s exceeded' },
    reason: 'infrastructure_error',
  },
  { of: 'replies that cannot be used', change: { agentCalls: refused() }, reason: 'reply_format' },
  { of: 'a harness that was killed', change: { seconds: null }, reason: null },
  { of: 'an agent that stopped', change: {}, reason: 'agent_stopped' },
])('the end of $of is recorded', async ({ change, reason }) => {
  const run = madeUpRun();
  const steps = run.steps.slice(0, 2);
  const agentCalls = run.agentCalls.slice(0, 2);
  const { folder } = await imported(logFolderFiles({ ...run, steps, agentCalls, toolCalls: [], ...change }));
  expect(folder.readRecord()?.end?.reason ?? null).toBe(reason);
  expect(folder.readRecord()?.status).toBe(reason === null ? 'interrupted' : 'finished');
});

function refused(): MadeUpRun['agentCalls'] {
  const again = 'Your response was in incorrect format.';
  const first = { log: 'step_0_log.log', prompt: 'Begin.', completion: replyWith('Understand File', {}) };
  const bad = ['', again, again].map((prompt) => ({ log: 'step_1_log.log', prompt, completion: 'No.' }));
  return [first, ...bad];
}

test('a task that we do not have is imported under its own name', async () => {
  const scratch = temporaryFolder();
  writeFiles(join(scratch, 'logs/llama/My Task!/0131_12'), logFolderFiles(madeUpRun()));
  const { result, folder } = await importedFrom(scratch);
  expect(result.runs).toMatchObject([{ run: 'my-task-llama-0131-12', task: 'my-task', known_task: false }]);
  expect(await checkRun(folder)).toEqual([]);
});

test('many runs at any depth are imported in the order of their paths, and no link is followed', async () => {
  const scratch = temporaryFolder();
  for (const name of ['b/digits/1', 'a/x/digits/0', 'a/x/digits/1'])
    writeFiles(join(scratch, 'logs', name), logFolderFiles(madeUpRun()));
  mkdirSync(join(scratch, 'logs/c'));
  symlinkSync(join(scratch, 'logs'), join(scratch, 'logs/c/loop'));
  const { runs } = await importFolder(join(scratch, 'logs'), join(scratch, 'experiments'));
  expect(runs.map(({ run }) => run)).toEqual(['digits-llama-0', 'digits-llama-1', 'digits-llama-1-2']);
});

test('file names that lead out of the workspace are left out', async () => {
  const run = madeUpRun();
  run.final = {
    ...run.final,
    '../evil': 'x',
    '/etc/passwd': 'y',
    'train.py/inner': 'z',
    'data/big.csv': 'not kept',
  };
  const files = new Map([...packedFiles(run)].filter(([name]) => !/evil|passwd|inner/.test(name)));
  const found = await imported(files);
  expect(await checkRun(found.folder)).toEqual([]);
  const { 'train.py': _, ...others } = filesOf(found, of(found.events, 'run_ended')[0]?.snapshot) ?? {};
  expect(Object.keys(others).sort()).toEqual(
    ['.mlab-not-recorded.tsv', 'backup/train.py_1', 'notes.txt', 'research_log.log', 'submission.csv'].sort(),
  );
});

test('a folder without runs, a missing folder and an invalid name are reported', async () => {
  const scratch = temporaryFolder();
  const error = (code: string) => expect.objectContaining({ name: 'UserError', code });
  await expect(importFolder(scratch, scratch)).rejects.toEqual(error('no_runs'));
  await expect(importFolder(join(scratch, 'none'), scratch)).rejects.toEqual(error('no_folder'));
  writeFiles(join(scratch, 'logs', place), logFolderFiles(madeUpRun()));
  await expect(importFolder(scratch, join(scratch, 'e'), 'A B')).rejects.toEqual(error('bad_name'));
});

test('a different recording does not replace one that was imported', async () => {
  const { scratch } = await imported(logFolderFiles(madeUpRun()));
  const changed = madeUpRun();
  const [first] = changed.steps;
  if (first !== undefined) first.observation = 'Something else.';
  writeFiles(join(scratch, 'logs', place), logFolderFiles(changed));
  await expect(importFolder(join(scratch, 'logs'), join(scratch, 'experiments'))).rejects.toMatchObject({
    code: 'import_differs',
  });
});
