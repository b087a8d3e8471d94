import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { importOriginalRuns } from '../src/exchange/index.ts';
import { gradeRun } from '../src/grading/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { UserError } from '../src/lib/errors.ts';
import type { TaskResources } from '../src/runs/index.ts';
import {
  createExperiment,
  type Experiment,
  forkRun,
  openExperiment,
  type RunFolder,
  readTraceSync,
} from '../src/store/index.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';
import { type BenchContext, type Benchmark, type Measurement, median } from './benchmark.ts';
import { helpersFolder, requireSandbox } from './task-resources.ts';

const project = join(import.meta.dirname, '..');
const shared = join(project, '../shared');
const tasksFolder = join(project, 'tasks');
const taskIds = ['house-price', 'spaceship-titanic'] as const;

/** Runs of one task, with everything needed to grade them. */
interface Graded {
  experiment: Experiment;
  resources: TaskResources;
}

interface Times {
  steps: number;
  submissions: number;
  /** Seconds for grading every step of every run. */
  all: number;
  /** Seconds for the same again, with nothing changed. */
  again: number;
  /** Seconds for some steps with a separate grader process each. */
  single: number[];
}

export const regrade: Benchmark = {
  name: 'regrade',
  summary: 'the hidden score of every step of recorded runs, against one grader process a step',
  async measure(context) {
    await requireSandbox();
    const times: Times[] = [];
    for (const id of context.quick ? taskIds.slice(0, 1) : taskIds) {
      context.log(`preparing ${id}`);
      times.push(await measureTask(id, context));
    }
    return measurementsOf(times);
  },
};

async function measureTask(id: string, context: BenchContext): Promise<Times> {
  const graded = await importTask(id, context);
  const sampled = context.quick ? 2 : 12;
  // The first grader is slower, because the system has to read its files from disk.
  await gradeAlone(graded, 1, 'warm-up', context);
  const single = await gradeAlone(graded, sampled, 'single', context);
  const folders = graded.experiment.runIds.map((run) => graded.experiment.runFolder(run));
  const gradeAll = async () => {
    const start = performance.now();
    for (const folder of folders) await gradeRun({ ...optionsFor(graded, context), folder, which: 'all' });
    return (performance.now() - start) / 1000;
  };
  const all = await gradeAll();
  const grades = folders.flatMap((folder) => folder.readGrades().grades);
  const submissions = new Set(grades.flatMap(({ submission }) => submission ?? [])).size;
  return { steps: grades.length, submissions, all, again: await gradeAll(), single };
}

/** @throws UserError if the recordings or the data are missing */
async function importTask(id: string, { scratch, signal, log }: BenchContext): Promise<Graded> {
  const recordings = join(shared, 'recorded-runs/gemini-pro', id);
  const mirror = join(shared, 'data');
  for (const folder of [recordings, mirror]) {
    if (!existsSync(folder))
      throw new UserError(
        'no_recordings',
        `There is no ${folder}.`,
        'It needs recorded runs and their data.',
      );
  }
  const task = loadTask(id, [tasksFolder]);
  const cache = cacheFolder(process.env);
  const python = await ensurePython(task.requirements, { cache, signal, onProgress: log });
  const prepared = await prepareTask(task, {
    ...{ cache, python, mirror, signal, onProgress: log, helpers: helpersFolder, allowUnverified: true },
  });
  const { experiment } = await importOriginalRuns({
    ...{ folders: [recordings], name: id, experiments: scratch, taskFolders: [tasksFolder] },
    ...{ sandbox: 'bubblewrap', version: 'bench', onProgress: () => {}, signal },
  });
  return { experiment, resources: { task, python, prepared, concealed: [] } };
}

function optionsFor({ resources }: Graded, { signal }: BenchContext) {
  return { ...resources, helpersFolder, signal };
}

/** Grades steps that have a submission, spread over the runs, each separately; returns the seconds of each. */
async function gradeAlone(
  graded: Graded,
  count: number,
  name: string,
  context: BenchContext,
): Promise<number[]> {
  const { experiment } = graded;
  const steps = experiment.runIds.flatMap((run) => withSubmission(experiment.runFolder(run)));
  const seconds: number[] = [];
  for (let index = 0; index < count; index += 1) {
    context.signal.throwIfAborted();
    const chosen = steps[Math.floor((index * steps.length) / count)];
    if (chosen === undefined) throw new Error('no recorded run has a submission');
    const copy = await copyUpTo(
      chosen.folder,
      chosen.step,
      join(context.scratch, `${experiment.plan.name}-${name}-${index}`),
    );
    const start = performance.now();
    await gradeRun({ ...optionsFor(graded, context), folder: copy, which: 'final' });
    seconds.push((performance.now() - start) / 1000);
  }
  return seconds;
}

function withSubmission(folder: RunFolder): { folder: RunFolder; step: number }[] {
  const { events } = readTraceSync(folder.tracePath);
  return events.flatMap((event) =>
    event.kind === 'step_finished' && event.submission.hash !== null ? [{ folder, step: event.step }] : [],
  );
}

/** A separate experiment, in which the run ends with this step and nothing is graded. */
async function copyUpTo(source: RunFolder, step: number, place: string): Promise<RunFolder> {
  const record = source.readRecord();
  if (record === null) throw new Error('the run was imported');
  const { plan } = openExperiment(join(source.folder, '../..'));
  const copy = createExperiment(place, { ...plan, runs: [record.spec] }).runFolder(source.id);
  using _lock = copy.lock();
  await forkRun(source, { experiment: plan.name, run: source.id, step }, copy);
  await using trace = copy.openTrace();
  const end = { reason: 'agent_stopped', message: '' } as const;
  trace.append({
    ...{ kind: 'run_ended', ...end, final_answer: null, snapshot: null, submission: null, seconds_used: 0 },
  });
  copy.writeRecordSync({ ...record, status: 'finished', end, steps: step });
  return copy;
}

function measurementsOf(times: readonly Times[]): Measurement[] {
  const steps = sum(times.map((one) => one.steps));
  const all = sum(times.map((one) => one.all));
  const each = sum(times.map((one) => one.steps * median(one.single)));
  const sampled = sum(times.map(({ single }) => single.length));
  const again = sum(times.map((one) => one.again));
  const common = { unit: 's', atMost: null };
  return [
    {
      ...{
        what: 'all steps against one grader process a step',
        value: all / each,
        unit: 'times',
        atMost: 1 / 20,
      },
      note: `${(each / all).toFixed(0)} times faster`,
    },
    {
      ...{ what: `all ${steps} steps`, value: all, ...common },
      note: `${sum(times.map((one) => one.submissions))} distinct submissions, one grader process a run`,
    },
    {
      ...{ what: 'the same again, nothing having changed', value: again, unit: 's', atMost: 1 },
      note: 'no grader is started',
    },
    {
      ...{ what: 'one grader process a step', value: each, ...common },
      note: `the median of ${sampled} steps, each graded alone, for each of ${steps} steps`,
    },
  ];
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
