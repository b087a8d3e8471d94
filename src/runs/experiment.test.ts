import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fixtureTasks, helpersFolder } from '../../test/fixtures/fixture-task.ts';
import { exampleRecord, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { evaluateRun } from '../evaluation/index.ts';
import { BranchId, ExperimentName, type Plan, RunId, type RunSpec } from '../schema/index.ts';
import { createExperiment, type Experiment, openFleet } from '../store/index.ts';
import { loadTask, type Task } from '../tasks/index.ts';
import { type ExperimentProgress, runExperiment, type TaskResources } from './index.ts';

const sums = loadTask('sums', [fixtureTasks]);

/** The grader of these runs is never started: their workspaces contain no submission. */
function resourcesOf(task: Task, folder: string): TaskResources {
  mkdirSync(join(folder, 'public'), { recursive: true });
  const manifest = {
    ...{ schema: 1 as const, task: task.file.id, recipe: '', sources: [], verified: true, files: [] },
    prepared_at: '2026-01-01T00:00:00Z',
  };
  const none = join(folder, 'none');
  return {
    concealed: [],
    task,
    python: {
      ...{ environment: none, executable: none, basePrefix: none, sitePackages: none },
      ...{ version: '3.11.2', packages: {} },
    },
    prepared: { folder, publicFolder: join(folder, 'public'), privateFolder: none, verified: true, manifest },
  };
}

/** An experiment of this many runs, and what is needed to execute it. */
function place(runs: number, task = sums, grade: Plan['grade'] = 'final') {
  const folder = temporaryFolder();
  const specs = Array.from({ length: runs }, (_, seed) => ({
    ...exampleSpec(),
    ...{ id: RunId.parse(`sums-noop-${seed}`), task: task.file.id, task_version: task.version, seed },
    ...{ agent: 'noop', sandbox: 'none' as const },
  }));
  const name = ExperimentName.parse('first');
  const plan: Plan = { v: 1, name, created: 0, mlab: '0', parallel: 2, grade, runs: specs };
  const experiment = createExperiment(join(folder, 'first'), plan);
  const written = specs.map((spec) => new WrittenRun(experiment.runFolder(spec.id), spec));
  return { experiment, plan, specs, written, resources: resourcesOf(task, join(folder, 'prepared')) };
}

async function work(
  { experiment, plan, resources }: { experiment: Experiment; plan: Plan; resources: TaskResources },
  stop: (progress: ExperimentProgress) => boolean = () => false,
) {
  const aborting = new AbortController();
  const seen: string[] = [];
  const results = await runExperiment(plan, {
    ...{ experiment, helpersFolder, versions: {}, incomplete: 'continue', signal: aborting.signal },
    resources: new Map([[resources.task.file.id, resources]]),
    onProgress: (progress) => {
      seen.push(`${progress.run.id} ${progress.kind}`);
      if (stop(progress)) aborting.abort();
    },
  });
  return { results: results.map(({ record, problem }) => [record?.status ?? null, problem]), seen };
}

test('a run that was graded when it was interrupted and then resumed is graded again at its end', async () => {
  const { written, specs, ...rest } = place(1);
  const [run] = written;
  const [spec] = specs;
  if (run === undefined || spec === undefined) throw new Error('there is one run');
  await run.session(2);
  // As former versions wrote it: a grade at the interruption, marked as final.
  run.grade(2, 0.91);
  await run.session(2, 'final_answer');
  expect(evaluateRun(run.folder, spec).grades).toMatchObject([{ step: 2, final: false, score: 0.91 }]);
  const { seen } = await work({ ...rest });
  expect(seen).toEqual(['sums-noop-0 run_kept', 'sums-noop-0 run_graded']);
  expect(evaluateRun(run.folder, spec).grades).toMatchObject([{ step: 4, final: true, valid: false }]);
  expect((await work({ ...rest })).seen).toEqual(['sums-noop-0 run_kept']);
});

test('if the plan asks for grades of every step, a run with only the final grade is graded again', async () => {
  const { written, ...rest } = place(1, sums, 'all');
  await written[0]?.session(2, 'final_answer');
  written[0]?.grade(2, 0.91);
  expect((await work(rest)).seen).toEqual(['sums-noop-0 run_kept', 'sums-noop-0 run_graded']);
  expect((await work(rest)).seen).toEqual(['sums-noop-0 run_kept']);
});

test('an experiment that is stopped while ended runs are graded reports them as not graded', async () => {
  const { file } = sums;
  const timed = { ...sums, file: { ...file, grading: { ...file.grading, runs_submission: true } } };
  const { written, ...rest } = place(4, timed);
  for (const run of written.slice(0, 2)) await run.session(1, 'final_answer');
  await written[2]?.session(1, 'final_answer');
  written[2]?.grade(1, 0.91);
  await written[3]?.session(1);
  const kept = (progress: ExperimentProgress) =>
    progress.kind === 'run_kept' && progress.run.id === 'sums-noop-2';
  const { results } = await work(rest, kept);
  expect(results).toEqual([
    ['finished', 'not graded: interrupted'],
    ['finished', 'not graded: interrupted'],
    ['finished', null],
    ['interrupted', 'interrupted'],
  ]);
});

test('an experiment that is stopped at once reports ended runs as finished, and only those without a record as not begun', async () => {
  const { written, ...rest } = place(4);
  for (const run of written.slice(0, 2)) await run.session(1, 'final_answer');
  for (const run of written.slice(0, 2)) run.grade(1, 0.91);
  await written[2]?.session(1);
  const { results } = await work(rest, ({ kind }) => kind === 'run_kept');
  expect(results).toEqual([
    ['finished', null],
    ['finished', null],
    ['interrupted', 'interrupted'],
    [null, 'not begun'],
  ]);
});

test('a run that another process executes is not noted as one that nobody will begin', async () => {
  const { experiment, ...rest } = place(1);
  using _lease = experiment.runFolder('sums-noop-0').lock();
  const { results } = await work({ experiment, ...rest });
  expect(results).toEqual([
    [null, expect.stringMatching(/^process \d+ on .* is working on .*sums-noop-0\.$/)],
  ]);
  expect(openFleet(experiment.folder).unqueued).toEqual(new Map());
});

test('an experiment whose folder is moved away while a run waits for a decision ends, and says so', async () => {
  const { experiment, plan, specs, resources } = place(1);
  const [spec] = specs;
  if (spec === undefined) throw new Error('there is one run');
  const waits_for = [{ branch: BranchId.parse('main'), step: 1, action: 'Edit File', decision: 'x' }];
  const record = exampleRecord({ spec, status: 'waiting', waits_for });
  const execute = async () => {
    renameSync(experiment.folder, `${experiment.folder}-2`);
    return { record, problem: null };
  };
  const waiting = runExperiment(plan, {
    ...{ experiment, helpersFolder, versions: {}, incomplete: 'continue', executor: { execute } },
    resources: new Map([[resources.task.file.id, resources]]),
    ...{ signal: new AbortController().signal, onProgress: () => {} },
  });
  await expect(waiting).rejects.toThrow(`The experiment's folder is gone: ${experiment.folder}.`);
  expect(existsSync(experiment.folder)).toBe(false);
});

test('an experiment whose folder disappears while it is executed ends, and executes nothing more in a new folder', async () => {
  const { experiment, written, ...rest } = place(3, sums, 'none');
  for (const run of written.slice(0, 2)) await run.session(1, 'final_answer');
  const moved = `${experiment.folder}-2`;
  const move = ({ kind }: ExperimentProgress) => {
    if (kind === 'run_kept' && !existsSync(moved)) renameSync(experiment.folder, moved);
    return false;
  };
  const plan = { ...rest.plan, parallel: 1 };
  await expect(work({ experiment, ...rest, plan }, move)).rejects.toMatchObject({ code: 'experiment_gone' });
  expect(existsSync(experiment.folder)).toBe(false);
});

test('a run whose record cannot be read is the only one with a problem, and the others are executed', async () => {
  const { experiment, specs, ...rest } = place(3, sums, 'none');
  const unreadable = experiment.runFolder('sums-noop-1');
  mkdirSync(unreadable.folder, { recursive: true });
  writeFileSync(unreadable.recordPath, '{ "v": 99 }');
  const { results } = await work({ experiment, ...rest });
  expect(results[1]).toEqual([null, expect.stringContaining('newer')]);
  for (const result of [results[0], results[2]]) expect(result?.[1]).not.toContain('newer');
  expect(specs.map(({ id }) => existsSync(experiment.runFolder(id).recordPath))).toEqual([true, true, true]);
});

test('a run that another process leaves unfinished meanwhile is executed at the end', async () => {
  const { experiment, written, ...rest } = place(2, sums, 'none');
  await written[0]?.session(1);
  await written[1]?.session(1, 'final_answer');
  const lease = experiment.runFolder('sums-noop-0').lock();
  const { seen } = await work({ experiment, ...rest }, ({ kind }) => {
    if (kind === 'run_kept') lease.release();
    return false;
  });
  expect(seen.slice(0, 2)).toEqual(['sums-noop-1 run_kept', 'sums-noop-0 run_started']);
});

test('a run that another process finishes meanwhile is finished', async () => {
  const { experiment, plan, written, resources } = place(2, sums, 'none');
  const execute = async ({ run }: { run: RunSpec }) => {
    if (run.seed === 0)
      return { record: null, problem: 'a process is working on it', isElsewhere: true as const };
    for (const each of written) await each.session(1, 'final_answer');
    return { record: experiment.runFolder(run.id).readRecord(), problem: null };
  };
  const results = await runExperiment(plan, {
    ...{ experiment, helpersFolder, versions: {}, incomplete: 'continue', executor: { execute } },
    resources: new Map([[resources.task.file.id, resources]]),
    ...{ signal: new AbortController().signal, onProgress: () => {} },
  });
  expect(results.map(({ record, problem }) => [record?.status, problem])).toEqual([
    ['finished', null],
    ['finished', null],
  ]);
});
