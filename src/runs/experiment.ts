import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../lib/errors.ts';
import { ownTurn } from '../lib/own-turn.ts';
import type { ModelRegistry } from '../models/index.ts';
import type { GradeJob, Job, Plan, RunRecord, RunSpec } from '../schema/index.ts';
import { type Experiment, noteUnqueued, type RunFolder, statusOf } from '../store/index.ts';
import { dataVersion } from '../tasks/index.ts';
import { experimentModels, takeSpending } from './experiment-models.ts';
import { isGraded } from './graded.ts';
import { Capacity, machineAmounts } from './jobs/capacity.ts';
import { executeJob } from './jobs/execute-job.ts';
import type { Executor, Following } from './jobs/executor.ts';
import type { JobHost } from './jobs/job-host.ts';
import { type JobProgress, type JobResult, notBegun, notGradedYet, resultOf } from './jobs/job-result.ts';
import { LocalExecutor } from './jobs/local-executor.ts';
import { type JobSettings, makeGradeJob, makeRunJob, measuresTime } from './jobs/make-jobs.ts';
import { readableRecord } from './readable-record.ts';
import { waitsStill } from './session/gate-on-disk.ts';
import { UnendedJobs } from './unended-jobs.ts';
import type { TaskResources } from './workspace.ts';

/** What to do with a run that did not end properly: resume it from its last step, start it over, or leave it. */
export type IncompleteRuns = 'continue' | 'restart' | 'keep';

export interface ExperimentServices extends Omit<JobHost, 'experiment' | 'resources' | 'models'>, Following {
  experiment: Experiment;
  /** Data and Python environment of every task of the plan. */
  resources: ReadonlyMap<string, TaskResources>;
  /** How others provision them; default: as usual. */
  provisioning?: Job['provisioning'] | undefined;
  /** Absolute path to which paths of scripted models are relative; default: the experiment's folder. */
  modelsFolder?: string | undefined;
  /** For plans with agents that call language models. */
  registry?: ModelRegistry | undefined;
  /** For a plan whose run is forked from a run of another experiment: that experiment's folder. */
  parentExperiment?: string | undefined;
  incomplete: IncompleteRuns;
  /**
   * Default: this process, with as many jobs at a time as fit, limited by the plan. `threads`: cores of a job there.
   */
  executor?: (Executor & { threads?: number | undefined }) | undefined;
}

export interface RunResult extends JobResult {
  spec: RunSpec;
}

/**
 * Executes every run of an experiment, and grades it when it ends. If grading times submitted code, all runs are graded
 * at the end, one by one, so that nothing else of the experiment affects the times. Finished runs are kept. An error in
 * one run is its result, and never stops the others. If the signal is aborted, current runs stop after what they have
 * recorded, and no other begins.
 * @throws UserError `experiment_gone`, `spending_elsewhere`
 */
export async function runExperiment(plan: Plan, services: ExperimentServices): Promise<RunResult[]> {
  const { experiment, signal } = services;
  // Other executors count what is spent in one place.
  using _spending = services.executor === undefined ? await takeSpending(plan, services) : null;
  const executor = services.executor ?? localExecutor(plan, services);
  const settings = settingsOf(plan, services);
  const runs = plan.runs.map(({ id }) => id);
  await noteUnqueued(experiment.folder, runs, null);
  await using unended = new UnendedJobs(experiment.folder);
  const execute = async (job: Job, next?: GradeJob): Promise<JobResult> => {
    const { record, ...rest } = await executor.execute(job, services, next);
    if (record === null && signal.aborted) return leftAsItIs(job.run, plan, experiment, rest.left);
    refuseGone(experiment);
    const result = { ...rest, record: record ?? readableRecord(experiment.runFolder(job.run.id)) };
    if (!signal.aborted) unended.add(job.run.id, result);
    return result;
  };
  const gradingOf = (run: RunSpec) =>
    plan.grade === 'none' ? undefined : makeGradeJob(run, settings, plan.grade);
  const gradeIfFinished = async (run: RunSpec, result: JobResult): Promise<JobResult> => {
    const grading = result.problem === null ? gradingOf(run) : undefined;
    return grading === undefined ? result : await execute(grading);
  };
  /** A run that waits for a decision does not count among the parallel runs. */
  const executeToEnd = async (run: RunSpec): Promise<JobResult> => {
    let result = await execute(makeRunJob(run, settings, restarts(services)), gradingOf(run));
    const folder = experiment.runFolder(run.id);
    while (await isDecided(experiment, folder, result.record, signal))
      result = await execute(makeRunJob(run, settings, false), gradingOf(run));
    return result;
  };
  const isTimed = ({ task }: RunSpec) => measuresTime(settings.tasks.get(task));
  const executeAll = (all: readonly RunSpec[]) =>
    Promise.all(
      all.map(async (run): Promise<RunResult> => {
        await ownTurn();
        const result = keptAsItIs(run, services) ?? (await executeToEnd(run));
        return { spec: run, ...(isTimed(run) ? result : await gradeIfFinished(run, result)) };
      }),
    );
  const first = await executeAll(plan.runs);
  // Another process that had a run may have stopped meanwhile, and left it unfinished.
  const left = first.map((result) => asItIsNow(result, plan, experiment)).filter(isLeftByOthers);
  const again = new Map((await executeAll(left.map(({ spec }) => spec))).map((each) => [each.spec.id, each]));
  const results = first.map((result) => again.get(result.spec.id) ?? result);
  for (const [index, { spec, ...result }] of results.entries())
    if (isTimed(spec)) results[index] = { spec, ...(await gradeIfFinished(spec, result)) };
  return results.map((result) => asItIsNow(result, plan, experiment));
}

const isLeftByOthers = ({ isElsewhere }: RunResult) => isElsewhere === true;

/** The process that had a run may have finished it meanwhile. */
function asItIsNow(result: RunResult, { grade }: Plan, experiment: Experiment): RunResult {
  if (result.isElsewhere !== true) return result;
  const folder = experiment.runFolder(result.spec.id);
  const record = readableRecord(folder);
  const isDone = record?.status === 'finished' && isGraded(folder, grade);
  return isDone ? { spec: result.spec, record, problem: null } : result;
}

/**
 * Resolves when the decision that a run waits for is there; false if it waits for none, or everything is stopped.
 * @throws UserError `experiment_gone`
 */
async function isDecided(
  experiment: Experiment,
  folder: RunFolder,
  record: RunRecord | null,
  signal: AbortSignal,
): Promise<boolean> {
  if (record?.status !== 'waiting') return false;
  while (!signal.aborted && waitsStill(folder, record)) {
    refuseGone(experiment);
    await sleep(decisionPollMs, undefined, { signal }).catch(() => {});
  }
  return !signal.aborted;
}

/** Further runs would be recorded in a folder without a plan, where nobody finds them. */
function refuseGone({ folder }: Experiment): void {
  if (existsSync(join(folder, 'plan.json'))) return;
  throw new UserError(
    'experiment_gone',
    `The experiment's folder is gone: ${folder}.`,
    'It was deleted, moved or renamed while its runs were executed. Move it back, and run the same command again to resume.',
  );
}

const decisionPollMs = 500;

const restarts = ({ incomplete }: ExperimentServices) => incomplete === 'restart';

/** This process has provisioned what the plan needs, once for all its runs. */
function localExecutor(plan: Plan, services: ExperimentServices): Executor {
  const models = experimentModels(plan, services);
  const host: JobHost = {
    ...services,
    experiment: () => services.experiment,
    resources: async ({ task: { id } }) => {
      const found = services.resources.get(id);
      if (found === undefined) throw new Error(`the plan's task ${id} was not provisioned`);
      return found;
    },
    models: () => models,
  };
  const capacity = new Capacity({
    ...machineAmounts(),
    gpus: services.gpus?.gpus.length ?? 0,
    jobs: plan.parallel,
  });
  const execute: Executor['execute'] = async (job, following) => {
    refuseGone(services.experiment);
    return await executeJob(job, host, following);
  };
  return new LocalExecutor(execute, capacity);
}

function settingsOf(plan: Plan, services: ExperimentServices): JobSettings {
  const { experiment, resources, provisioning, modelsFolder, versions, parentExperiment, executor } =
    services;
  return {
    ...{ plan, experiment, parentExperiment, threads: executor?.threads, isHere: executor === undefined },
    tasks: new Map([...resources].map(([id, { task }]) => [id, task])),
    data: new Map([...resources].map(([id, { prepared }]) => [id, dataVersion(prepared)])),
    modelsFolder: modelsFolder ?? experiment.folder,
    provisioning: provisioning ?? { allow_unverified: false },
    mlab: versions.mlab ?? '',
  };
}

/** The result of a run that has begun, if such runs are to be left alone; otherwise null. */
function keptAsItIs(
  run: RunSpec,
  { experiment, incomplete, onProgress }: ExperimentServices,
): JobResult | null {
  if (incomplete !== 'keep') return null;
  const record = readableRecord(experiment.runFolder(run.id));
  if (record === null || record.status === 'finished') return null;
  onProgress({ kind: 'run_kept', run, record });
  return resultOf(record);
}

/**
 * The result of a run that had not ended when the experiment was stopped.
 * @param left of its job, if its executor continues with it
 */
function leftAsItIs(
  run: RunSpec,
  { grade }: Plan,
  experiment: Experiment,
  left: JobResult['left'],
): JobResult {
  const folder = experiment.runFolder(run.id);
  const record = readableRecord(folder);
  if (left !== undefined) {
    if (record?.status === 'finished')
      return isGraded(folder, grade) ? resultOf(record) : { record, problem: 'not graded yet', left };
    const isRunning = left === 'running' || (record !== null && statusOf(folder, record) === 'running');
    const state = isRunning ? 'running' : 'queued';
    return { record, problem: state, left: state };
  }
  if (record === null) return { record, problem: notBegun };
  if (record.status === 'running') return { record, problem: 'interrupted' };
  const result = resultOf(record);
  return result.problem === null && !isGraded(folder, grade) ? { ...result, problem: notGradedYet } : result;
}

export type { JobProgress as ExperimentProgress };
