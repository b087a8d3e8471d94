import { basename, join } from 'node:path';
import { agentByName } from '../agents/index.ts';
import { gradeRun, graderErrorOf } from '../grading/index.ts';
import { UserError } from '../lib/errors.ts';
import { everyMinute } from '../lib/every-minute.ts';
import { withPackageHint } from '../lib/missing-package.ts';
import { ExperimentName, type Plan, RunId, type RunSpec, type SandboxDriver } from '../schema/index.ts';
import { figuresOf, mean } from '../statistics/index.ts';
import { createExperiment, type RunFolder, readTraceSync, stepsOf } from '../store/index.ts';
import { dataCaveats } from '../tasks/index.ts';
import { givenGpus, type HeldGpus } from './gpus/gpu-leases.ts';
import { limitsFor } from './plan.ts';
import { endOfOutput, scriptCrash } from './script-crash.ts';
import { executeRun } from './session/execute-run.ts';
import { solutionFiles } from './solution-files.ts';
import { constantAgent } from './validation-agents/honest.ts';
import type { TaskResources } from './workspace.ts';

/** What to measure: the starter, the trivial predictor in its place, or the reference solution. */
export type MeasuredScript = 'starter' | 'constant' | 'solution';

export interface MeasureTaskOptions {
  resources: TaskResources;
  what: MeasuredScript;
  seeds: readonly number[];
  helpersFolder: string;
  /** An empty folder, in which the runs are kept as an experiment of its name. */
  folder: string;
  versions: Record<string, string>;
  sandbox: SandboxDriver;
  threads: number;
  /** For the script and the grader; absent: none. */
  gpus?: HeldGpus | undefined;
  signal: AbortSignal;
  onSeed: (run: MeasuredSeed) => void;
  /** A line for people, after each minute of a run. */
  onProgress: (line: string) => void;
}

/** One run of the script. */
export interface MeasuredSeed {
  seed: number;
  /** Hidden score in the unit of the metric. */
  score: number;
  /** The starter's score if the grader measured it beside this one, as times are; null otherwise. */
  starterScore: number | null;
  /** Wall time of the script. */
  seconds: number;
  /** Processor time of the script; null where it can't be measured. */
  cpuSeconds: number | null;
  /** The last lines that the script printed. */
  printed: string;
}

/** The figures for task.yaml, as measured now. */
export interface Measurement {
  what: MeasuredScript;
  mean: number;
  /** Sample standard deviation over the seeds. */
  spread: number;
  seeds: number;
  /** Mean wall time of one run of the script. */
  seconds: number;
  runs: MeasuredSeed[];
}

/**
 * Runs the script once per seed, one run at a time so that times are meaningful, and grades each run.
 * @throws UserError if a run makes no valid submission
 */
export async function measureTask(options: MeasureTaskOptions): Promise<Measurement> {
  const { what, seeds, onSeed } = options;
  const plan = planOf(options);
  const experiment = createExperiment(options.folder, plan);
  const runs: MeasuredSeed[] = [];
  for (const spec of plan.runs) {
    options.signal.throwIfAborted();
    const run = await measureSeed(spec, experiment.runFolder(spec.id), options);
    runs.push(run);
    onSeed(run);
  }
  return {
    what,
    ...figuresOf(runs.map(({ score }) => score)),
    seeds: seeds.length,
    seconds: mean(runs.map(({ seconds }) => seconds)),
    runs,
  };
}

async function measureSeed(
  spec: RunSpec,
  folder: RunFolder,
  options: MeasureTaskOptions,
): Promise<MeasuredSeed> {
  const { resources, what, helpersFolder, versions, threads, gpus, signal } = options;
  const { agent, reference } = performer(resources, what);
  using _lock = folder.lock();
  let doing = 'running';
  using _reminder = everyMinute((minutes) =>
    options.onProgress(`seed ${spec.seed}: still ${doing}, after ${minutes} min`),
  );
  const record = await executeRun(spec, {
    ...{ folder, resources, agent, reference, helpersFolder, versions, threads, gpus, signal },
    onProgress: () => {},
  });
  signal.throwIfAborted();
  if (record.status !== 'finished') throw failure(spec, record.end?.message ?? record.status);
  const steps = stepsOf(readTraceSync(folder.tracePath).events);
  const crash = scriptCrash(folder, steps);
  doing = 'grading';
  const grading = { ...resources, helpersFolder, gpus: gpus?.gpus, signal };
  const [grade] = await gradeRun({ folder, ...grading, which: 'final' });
  if (grade === undefined || grade.score === null) {
    const problems = grade?.problems.map(({ message }) => message).join('; ') ?? 'no grade';
    const message = [crash, `no valid submission: ${problems}`].filter(Boolean).join('\n');
    const graderError = grade === undefined ? null : graderErrorOf(grade);
    throw graderError === null
      ? failure(spec, message)
      : failure(
          spec,
          withPackageHint(`${message}\n${graderError}`),
          'Fix hidden/grade.py, then measure again.',
        );
  }
  // A submission that an earlier version of the script left is not a measurement.
  if (crash !== null) throw failure(spec, crash);
  const script = steps.findLast(({ performed }) => performed.action === 'Execute Script');
  const { duration_ms: ms = 0, cpu_seconds: cpuSeconds = null } = script?.finished ?? {};
  const printed = script === undefined ? '' : endOfOutput(folder.objects, script, shownLines);
  const starterScore = grade.baseline === resources.task.file.baseline.mean ? null : grade.baseline;
  return { seed: spec.seed, score: grade.score, starterScore, seconds: ms / 1000, cpuSeconds, printed };
}

const shownLines = 20;

function performer({ task }: TaskResources, what: MeasuredScript) {
  if (what === 'starter') return { agent: agentByName('baseline'), reference: null };
  const reference = solutionFiles(task, what);
  if (reference.size === 0) {
    throw new UserError(
      'nothing_to_measure',
      `The task ${task.file.id} has no hidden/${what}/.`,
      `Add the files that replace those of env/, at least ${task.file.entry}.`,
    );
  }
  return { agent: what === 'constant' ? constantAgent() : agentByName('oracle'), reference };
}

function failure(
  { id }: RunSpec,
  message: string,
  hint = 'Fix the script, then measure again; with --keep, its run can be looked at.',
): UserError {
  return new UserError('not_measured', `The run ${id} gave no score: ${message}`, hint);
}

function planOf(options: MeasureTaskOptions): Plan {
  const { what, seeds, folder, sandbox, versions, gpus } = options;
  const { task, prepared } = options.resources;
  const name = ExperimentName.parse(basename(folder));
  const runs = seeds.map(
    (seed): RunSpec => ({
      id: RunId.parse(`${task.file.id}-${what}-${seed}`),
      experiment: name,
      task: task.file.id,
      task_version: task.version,
      agent: what,
      agent_options: {},
      model: null,
      seed,
      limits: limitsFor(task, {}),
      sandbox,
      ...givenGpus(gpus),
      caveats: dataCaveats(task, prepared.verified),
    }),
  );
  return {
    ...{ v: 1, name, created: Date.now(), mlab: versions.mlab ?? '', parallel: 1, grade: 'final' },
    runs,
  };
}

/** The folder for the runs of a measurement. */
export function measureFolder(parent: string, task: string): string {
  return join(parent, `measure-${task}`);
}
