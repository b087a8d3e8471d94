import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { examplePlan, exampleRecord, exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { unsureCaveat } from '../../grading/index.ts';
import { importCaveat, type RunRecord, RunState } from '../../schema/index.ts';
import { createExperiment, type Experiment, noteUnqueued } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsLs } from './runs-ls.ts';

const Listing = z.object({
  runs: z.array(z.object({ run: z.string(), status: z.string() })),
  states: z.array(z.object({ run: z.string(), state: RunState, where: z.string(), why: z.string() })),
});

function fleetIn(folder: string): Experiment {
  const ids = ['queued', 'starting', 'running', 'waiting', 'finished', 'interrupted', 'failed'];
  const experiment = createExperiment(join(folder, 'first'), examplePlan(ids));
  const record = (id: string, changes: Partial<RunRecord>) => {
    const run = experiment.runFolder(id);
    using _lock = run.lock();
    run.writeRecordSync(exampleRecord({ spec: exampleSpec(id), ...changes }));
    return run;
  };
  const end = { reason: 'infrastructure_error' as const, message: 'no bwrap', cause: 'sandbox' };
  const awaited = { branch: 'main' as never, step: 3, action: 'Edit File', decision: 'x' };
  record('waiting', { status: 'waiting', waits_for: [awaited] });
  record('finished', { status: 'finished', end: { reason: 'final_answer', message: '' } });
  record('interrupted', { status: 'running' });
  record('failed', { status: 'failed', end });
  return experiment;
}

async function list(folder: string, status?: string[], names: string[] = [], flags = {}) {
  const { signal } = new AbortController();
  const context = { ...createContext({ dir: folder }, {}, '1', signal), log: () => {} };
  const { text, json } = await runsLs.run(context, names, {
    ...flags,
    ...(status === undefined ? {} : { status }),
  });
  return { text, ...Listing.parse(typeof json === 'function' ? await json() : json) };
}

test('a run whose Redis worker is gone is shown as being passed to another', async () => {
  const folder = temporaryFolder();
  fleetIn(folder).recordExecutor('redis://queue:6379');
  const { states } = await list(folder, ['interrupted']);
  expect(states[0]?.why).toMatch(/^its worker on .* is gone; the job is given to another$/);
});

test('each run of a fleet is shown with what it does, where, and what it waits for or why it failed', async () => {
  const folder = temporaryFolder();
  const experiment = fleetIn(folder);
  using _starting = experiment.runFolder('starting').lock();
  const running = experiment.runFolder('running');
  using _running = running.lock();
  const gpus = { uuids: ['GPU-1'], held_seconds: 0, busy_seconds: null, peak_memory_bytes: null };
  running.writeRecordSync(exampleRecord({ spec: exampleSpec('running'), gpus }));
  const { text, states } = await list(folder);
  expect(states.map(({ run }) => run)).toHaveLength(7);
  const here = expect.stringMatching(new RegExp(`^.+, process ${process.pid}$`));
  const byState = Object.fromEntries(states.map(({ run, ...rest }) => [run, rest]));
  expect(byState).toMatchObject({
    'first/queued': { state: 'queued', where: '', why: '' },
    'first/starting': { state: 'starting', where: here },
    'first/running': { state: 'running', where: expect.stringMatching(`process ${process.pid}, GPU-1$`) },
    'first/waiting': { state: 'waiting', why: 'waits for a decision on step 3 (Edit File)' },
    'first/finished': { state: 'finished', where: '', why: '' },
    'first/interrupted': { state: 'interrupted', why: expect.stringContaining('resumes it') },
    'first/failed': { state: 'failed', why: 'sandbox: no bwrap' },
  });
  expect(text).toContain(
    '7 runs: 1 queued, 1 starting, 1 running, 1 waiting, 1 finished, 1 interrupted, 1 failed',
  );
});

test('a run that a newer mlab wrote is shown as such, and one that is damaged as damaged', async () => {
  const folder = temporaryFolder();
  const experiment = fleetIn(folder);
  const { recordPath } = experiment.runFolder('finished');
  writeFileSync(recordPath, JSON.stringify({ ...experiment.runFolder('finished').readRecord(), v: 99 }));
  writeFileSync(experiment.runFolder('failed').recordPath, 'broken');
  const { states } = await list(folder);
  expect(Object.fromEntries(states.map(({ run, why }) => [run, why]))).toMatchObject({
    'first/finished': 'a newer mlab wrote it',
    'first/failed': 'its files cannot be read',
  });
});

test('a branch whose file is damaged is shown as such among the runs', async () => {
  const folder = temporaryFolder();
  const experiment = fleetIn(folder);
  mkdirSync(join(experiment.folder, 'branches'));
  writeFileSync(join(experiment.folder, 'branches/finished-from-1.json'), '{"v":1,');
  const { states } = await list(folder);
  expect(states).toHaveLength(8);
  expect(states).toContainEqual({
    ...{ run: 'first/finished-from-1', state: 'failed', where: '', why: 'its files cannot be read' },
  });
});

test('an imported run without an end is not shown as running', async () => {
  const folder = temporaryFolder();
  const run = fleetIn(folder).runFolder('interrupted');
  const spec = { ...exampleSpec('interrupted'), caveats: [importCaveat] };
  run.writeRecordSync(exampleRecord({ spec, status: 'interrupted' }));
  const { states } = await list(folder, ['interrupted']);
  expect(states.map(({ why }) => why)).toEqual(['its recording ends here']);
});

test('runs whose jobs were refused or cancelled are not shown as queued until they are queued again', async () => {
  const folder = temporaryFolder();
  const experiment = fleetIn(folder);
  experiment.recordExecutor('slurm');
  const [queued, starting, interrupted] = [
    exampleSpec('queued').id,
    exampleSpec('starting').id,
    exampleSpec('interrupted').id,
  ];
  const why = 'refused by worker a-1: other version';
  await noteUnqueued(experiment.folder, [queued], { state: 'cancelled', why: 'cancelled' });
  await noteUnqueued(experiment.folder, [queued, interrupted], { state: 'failed', why });
  await noteUnqueued(experiment.folder, [starting], { state: 'cancelled', why: 'cancelled' });
  const named = ['first/queued', 'first/interrupted', 'first/starting'];
  const noted = await list(folder, undefined, named);
  const byState = Object.fromEntries(noted.states.map(({ run, ...rest }) => [run, rest]));
  expect(byState).toEqual({
    'first/queued': { state: 'failed', where: '', why },
    'first/interrupted': { state: 'interrupted', where: '', why },
    'first/starting': { state: 'cancelled', where: '', why: 'cancelled' },
  });
  await noteUnqueued(experiment.folder, [queued, starting, interrupted], null);
  const { states } = await list(folder, ['queued'], named);
  expect(states.map(({ run }) => run).sort()).toEqual(['first/queued', 'first/starting']);
});

test('runs that wait elsewhere show where, and only the requested states are listed', async () => {
  const folder = temporaryFolder();
  fleetIn(folder).recordExecutor('slurm');
  const { states, runs } = await list(folder, ['queued', 'failed']);
  const slurm = ['queued', 'running', 'starting'].map((id) => [`first/${id}`, 'slurm']);
  expect(states.map(({ run, where }) => [run, where]).sort()).toEqual([['first/failed', ''], ...slurm]);
  expect(runs.map(({ run }) => run).sort()).toEqual(['failed', 'queued', 'running', 'starting']);
  await expect(list(folder, ['lost'])).rejects.toThrow('--status lost: not a valid state.');
});

test('runs are selected by patterns, sorted by their results, and listed up to a limit', async () => {
  const folder = temporaryFolder();
  fleetIn(folder);
  const named = async (...names: string[]) =>
    (await list(folder, undefined, names)).states.map(({ run }) => run);
  expect((await named('f*/*ed')).sort()).toEqual(
    ['failed', 'finished', 'interrupted', 'queued'].map((id) => `first/${id}`),
  );
  expect(await named('first/running')).toEqual(['first/running']);
  expect(await named('first')).toHaveLength(7);
  expect(await named(join(folder, 'first'))).toHaveLength(7);
  expect(await named(join(folder, 'first/queued'))).toEqual(['first/queued']);
  expect(await named('running')).toEqual(['first/running']);
  for (const given of ['none*', 'first/none*', 'none', 'first/runing'])
    await expect(named(given)).rejects.toThrow(`experiment or run`);
  cpSync(join(folder, 'first'), join(folder, 'copy'), { recursive: true });
  expect(await named('copy')).toHaveLength(7);
  const { text, states } = await list(folder, undefined, ['first'], { sort: 'time', limit: 2 });
  expect(states).toHaveLength(2);
  expect(text).toContain('7 runs: ');
  expect(text).toContain('… and 5 more');
});

test.each([
  ['maximize', ['first/high', 'first/low']],
  ['minimize', ['first/low', 'first/high']],
] as const)('sorted by scores of which one has to %s, the best run comes first', async (direction, best) => {
  const folder = temporaryFolder();
  const scores = { failed: null, low: 0.1, high: 0.9 };
  const experiment = createExperiment(join(folder, 'first'), examplePlan(Object.keys(scores)));
  for (const [id, score] of Object.entries(scores)) {
    const run = new WrittenRun(experiment.runFolder(id), exampleSpec(id));
    await run.session(1, 'final_answer');
    if (score !== null) run.grade(1, score, { direction });
  }
  const { states, runs } = await list(folder, undefined, [], { sort: 'score' });
  expect(states.map(({ run }) => run)).toEqual([...best, 'first/failed']);
  expect(runs.map(({ run }) => `first/${run}`)).toEqual([...best, 'first/failed']);
});

test('how to grade finished runs without a grade is said, unless their plan asks for none', async () => {
  const folder = temporaryFolder();
  const experiment = fleetIn(folder);
  const hint = 'To grade the runs that are not graded: npx mlab grade first';
  expect((await list(folder)).text).toContain(hint);
  expect((await list(folder, ['failed'])).text).not.toContain('To grade');
  const plan = join(experiment.folder, 'plan.json');
  writeFileSync(plan, JSON.stringify({ ...experiment.plan, grade: 'none' }));
  expect((await list(folder)).text).not.toContain('To grade');
});

test('one line says that no run is in the wanted state', async () => {
  const folder = temporaryFolder();
  fleetIn(folder);
  expect((await list(folder, ['cancelled'])).text).toBe('No run is cancelled.');
  expect((await list(folder, ['cancelled', 'starting'])).text).toBe('No run is cancelled or starting.');
  expect((await list(folder, ['cancelled'])).runs).toEqual([]);
});

test('a run that may have no score because of the grader is shown with this caveat', async () => {
  const folder = temporaryFolder();
  const experiment = createExperiment(join(folder, 'first'), examplePlan(['run']));
  const run = new WrittenRun(experiment.runFolder('run'), exampleSpec('run'));
  await run.session(1, 'final_answer');
  run.grade(1, 0, { score: null, valid: false, caveats: [unsureCaveat] });
  const { text } = await list(folder);
  expect(text).toContain('no valid submission; the grader may be at fault');
});
