import { cpus } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import pLimit from 'p-limit';
import { agentByName } from '../agents/index.ts';
import type { StepProgress } from '../environment/index.ts';
import { gradeRun } from '../grading/index.ts';
import { errorName, messageOf, UserError } from '../lib/errors.ts';
import type { ModelRegistry } from '../models/index.ts';
import type { Grade, Plan, RunRecord, RunSpec } from '../schema/index.ts';
import { currentGrades, type Experiment, forkRun, type RunFolder, recordedStates } from '../store/index.ts';
import { archiveAttempt } from './archived-attempts.ts';
import { experimentModels } from './experiment-models.ts';
import { compressTrace, executeRun } from './session/execute-run.ts';
import type { RunServices } from './session/run-services.ts';
import { solutionFiles } from './solution-files.ts';
import { type ExperimentModels, toolModelFor } from './tool-model.ts';
import type { TaskResources } from './workspace.ts';

/** What to do with a run that did not end properly: go on from its last step, start over, or leave it. */
export type IncompleteRuns = 'continue' | 'restart' | 'keep';

export type ExperimentProgress =
  | { kind: 'run_kept'; run: RunSpec; record: RunRecord }
  | { kind: 'run_started'; run: RunSpec; resumed: boolean }
  | { kind: 'run_step'; run: RunSpec; progress: StepProgress }
  | { kind: 'run_ended'; run: RunSpec; record: RunRecord }
  | { kind: 'run_graded'; run: RunSpec; grades: Grade[] }
  /** `error`: its code or name. */
  | { kind: 'run_not_graded'; run: RunSpec; message: string; error: string };

export interface ExperimentServices {
  experiment: Experiment;
  /** Data and Python environment of every task of the plan. */
  resources: ReadonlyMap<string, TaskResources>;
  helpersFolder: string;
  /** For plans with agents that ask language models. */
  registry?: ModelRegistry | undefined;
  /** For a plan whose runs go on from another run: that run. */
  parent?: RunFolder | undefined;
  /** Answers Request Help of interactive runs. */
  askPerson?: RunServices['askPerson'];
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  versions: Record<string, string>;
  incomplete: IncompleteRuns;
  signal: AbortSignal;
  onProgress: (progress: ExperimentProgress) => void;
}

export interface RunResult {
  spec: RunSpec;
  record: RunRecord | null;
  /** Why it could not be executed or graded; null when all went well. */
  problem: string | null;
}

/**
 * Executes an experiment's plan, several runs at a time, and grades each run when it ends; where grading takes
 * the time of submitted code, after all runs, one by one, so that nothing else of the experiment disturbs the clock.
 * Finished runs are kept. What goes wrong with one run is its result, and never stops the others. When the signal is
 * aborted, runs under way stop after what they have recorded, and no other begins.
 */
export async function runExperiment(plan: Plan, services: ExperimentServices): Promise<RunResult[]> {
  const limit = pLimit(plan.parallel);
  // The beginning of a run takes some milliseconds: of many at once, each has a turn of the event loop to itself.
  const oneByOne = pLimit(1);
  const shares: RunShares = {
    threads: Math.max(1, Math.floor(cpus().length / plan.parallel)),
    models: experimentModels(plan, services),
  };
  const isTimed = (spec: RunSpec) =>
    services.resources.get(spec.task)?.task.file.grading.runs_submission === true;
  const results = await Promise.all(
    plan.runs.map((spec) =>
      limit(async () => {
        await oneByOne(() => nextTurn());
        return await guarded({ spec, record: null, problem: null }, plan, services, async () => {
          using _lock = services.experiment.runFolder(spec.id).lock();
          const result = await executeOrKeep(spec, shares, services);
          return isTimed(spec) ? result : gradeResult(result, plan, shares, services);
        });
      }),
    ),
  );
  for (const [index, result] of results.entries()) {
    if (!isTimed(result.spec)) continue;
    results[index] = await guarded(result, plan, services, async () => {
      using _lock = services.experiment.runFolder(result.spec.id).lock();
      return gradeResult(result, plan, shares, services);
    });
  }
  return results;
}

/** What the runs of an experiment share. */
interface RunShares {
  threads: number;
  models: ExperimentModels | undefined;
}

/** Turns what one run could not cope with into its result. @param known what came of it so far */
async function guarded(
  known: RunResult,
  plan: Plan,
  services: ExperimentServices,
  work: () => Promise<RunResult>,
): Promise<RunResult> {
  const { signal, experiment } = services;
  try {
    return signal.aborted ? leftAsItIs(known.spec, plan, experiment) : await work();
  } catch (error) {
    return { ...known, problem: signal.aborted ? 'interrupted' : messageOf(error) };
  }
}

/** The result of a run that nobody came to before the experiment was stopped. */
function leftAsItIs(spec: RunSpec, plan: Plan, experiment: Experiment): RunResult {
  const folder = experiment.runFolder(spec.id);
  const record = folder.readRecord();
  if (record === null) return { spec, record, problem: 'not begun' };
  if (record.status === 'running') return { spec, record, problem: 'interrupted' };
  const result = resultOf(spec, record);
  return result.problem === null && !isGraded(folder, plan) ? { ...result, problem: notGradedYet } : result;
}

const notGradedYet = 'not graded: interrupted';

async function executeOrKeep(
  spec: RunSpec,
  shares: RunShares,
  services: ExperimentServices,
): Promise<RunResult> {
  const { experiment, onProgress, incomplete } = services;
  const folder = experiment.runFolder(spec.id);
  const earlier = folder.readRecord();
  const resources = resourcesOf(spec, services.resources);
  if (earlier !== null && (earlier.status === 'finished' || incomplete === 'keep')) {
    onProgress({ kind: 'run_kept', run: spec, record: earlier });
    // Whoever ended it may have been killed before the trace was compressed.
    if (earlier.status === 'finished') await compressTrace(folder);
    return resultOf(spec, earlier);
  }
  if (earlier !== null && incomplete === 'restart') archiveAttempt(folder);
  return resultOf(spec, await executePlanned(spec, folder, resources, shares, services));
}

function resultOf(spec: RunSpec, record: RunRecord): RunResult {
  const problem = record.status === 'finished' ? null : (record.end?.message ?? record.status);
  return { spec, record, problem };
}

/** Whether a finished run has the grades that its plan asks for. */
function isGraded(folder: RunFolder, { grade }: Plan): boolean {
  if (grade === 'none') return true;
  const states = recordedStates(folder);
  const graded = currentGrades(folder.readGrades().grades, states);
  return grade === 'all' ? graded.length === states.length : graded.some(({ final }) => final);
}

/** Grades a finished run that lacks a grade. */
async function gradeResult(
  result: RunResult,
  plan: Plan,
  { models }: RunShares,
  services: ExperimentServices,
): Promise<RunResult> {
  const { experiment, resources, helpersFolder, dockerCommand, onProgress, signal } = services;
  const { spec, record } = result;
  const folder = experiment.runFolder(spec.id);
  if (record?.status !== 'finished' || plan.grade === 'none') return result;
  try {
    if (isGraded(folder, plan)) return result;
    const provisioned = resourcesOf(spec, resources);
    const grades = await gradeRun({
      ...{ folder, ...provisioned, helpersFolder, dockerCommand, which: plan.grade, signal },
      toolModel: toolModelFor(spec, provisioned.task, models),
    });
    onProgress({ kind: 'run_graded', run: spec, grades });
    return result;
  } catch (error) {
    const message = signal.aborted ? notGradedYet : `not graded: ${messageOf(error)}`;
    onProgress({
      kind: 'run_not_graded',
      run: spec,
      message,
      error: signal.aborted ? 'interrupted' : errorName(error),
    });
    return { ...result, problem: message };
  }
}

async function executePlanned(
  spec: RunSpec,
  folder: RunFolder,
  resources: TaskResources,
  shares: RunShares,
  services: ExperimentServices,
): Promise<RunRecord> {
  const { onProgress, helpersFolder, dockerCommand, versions, signal, parent, askPerson } = services;
  const agent = agentByName(spec.agent);
  onProgress({ kind: 'run_started', run: spec, resumed: folder.readRecord() !== null });
  if (spec.parent !== undefined && parent !== undefined) await forkRun(parent, spec.parent, folder, signal);
  const record = await executeRun(spec, {
    ...{ folder, resources, agent, helpersFolder, dockerCommand, versions, signal, ...shares },
    askPerson: spec.interactive === true ? askPerson : undefined,
    reference: agent.needs.reference ? solutionFiles(resources.task, 'solution') : null,
    onProgress: (progress) => onProgress({ kind: 'run_step', run: spec, progress }),
  });
  onProgress({ kind: 'run_ended', run: spec, record });
  return record;
}

function resourcesOf(spec: RunSpec, resources: ReadonlyMap<string, TaskResources>): TaskResources {
  const found = resources.get(spec.task);
  if (found === undefined) throw new Error(`the plan's task ${spec.task} was not provisioned`);
  if (found.task.version === spec.task_version) return found;
  throw new UserError(
    'task_changed',
    `The task ${spec.task} has changed since this experiment was planned.`,
    'Start a new experiment (--name), or bring the old task back.',
  );
}
