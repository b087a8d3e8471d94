import { hostname } from 'node:os';
import { isDeepStrictEqual } from 'node:util';
import { agentOfRun, refuseChangedProgram } from '../../agents/index.ts';
import { gradeRun } from '../../grading/index.ts';
import { errorName, messageOf, UserError } from '../../lib/errors.ts';
import { ownTurn } from '../../lib/own-turn.ts';
import type { GradeJob, Job, RunJob, RunSpec } from '../../schema/index.ts';
import {
  attemptNumbers,
  type Experiment,
  forkRun,
  openExperiment,
  type RunFolder,
} from '../../store/index.ts';
import { archiveAttempt, finishArchiving } from '../archived-attempts.ts';
import { GpuLeases, type HeldGpus } from '../gpus/gpu-leases.ts';
import { isGraded } from '../graded.ts';
import { canContinue, hasNoStepYet } from '../outside/agent-session.ts';
import { refuseChangedTask, refuseOtherData } from '../provision.ts';
import { compressTrace, executeRun, failRun } from '../session/execute-run.ts';
import { gateOnDisk, longestWaitMs, waitsStill } from '../session/gate-on-disk.ts';
import { recordedEnd } from '../session/run-record.ts';
import { solutionFiles } from '../solution-files.ts';
import { offersModel, toolModelFor } from '../tool-model.ts';
import type { TaskResources } from '../workspace.ts';
import { gpusOf } from './capacity.ts';
import type { Following } from './executor.ts';
import type { JobHost } from './job-host.ts';
import { type JobResult, notBegun, notGradedYet, resultOf } from './job-result.ts';

/**
 * Executes a job in this process: finds the task, opens the store, acquires the run's lease, and runs or grades. If it
 * is executed again, it resumes where it stopped, and does nothing once everything is done.
 * @throws UserError if the job does not fit the store or the task, or somebody else is executing the run
 */
export async function executeJob(job: Job, host: JobHost, following: Following): Promise<JobResult> {
  refuseOtherMlab(job, host);
  const experiment = host.experiment(job);
  refuseOtherPlan(experiment, job.run);
  if (job.run.interactive === true && host.askPerson === undefined) {
    throw new UserError(
      'no_person',
      `The run ${job.run.id} is interactive, and a worker can't answer it.`,
      'Execute it with mlab run in a terminal.',
    );
  }
  const folder = experiment.runFolder(job.run.id);
  const { signal, onProgress } = following;
  // A machine with another version of the task or its data leaves the run alone.
  if (isLeft(job, folder)) await resourcesOf(job, host, signal);
  const onWait = ({ pid, host: machine }: { pid: number; host: string }) =>
    onProgress({ kind: 'run_waits', run: job.run, holder: `process ${pid} on ${machine}` });
  using lease = await folder.acquire({ signal, onWait });
  if (lease.follows !== null) {
    const { pid, host: machine } = lease.follows;
    const holder = `process ${pid} on ${machine}`;
    onProgress({
      kind: 'run_taken_over',
      run: job.run,
      holder,
      epoch: lease.epoch,
      silent: lease.followsSilence,
    });
  }
  await finishArchiving(folder);
  // Taking the lease took some milliseconds, and so does beginning the run.
  await ownTurn();
  // A process whose run was taken over while it was away must not touch the run any more.
  const owned = { onProgress, signal: AbortSignal.any([signal, lease.lost]) };
  return job.kind === 'run'
    ? await executeRunJob(job, experiment, folder, host, owned)
    : await executeGradeJob(job, experiment, folder, host, owned);
}

/**
 * Ends a job that must not be executed again: its run has failed for the given reason. Finished work stays as it is.
 * @throws UserError if the job does not fit the store, or somebody is executing the run
 */
export async function giveUpJob(
  job: Job,
  host: JobHost,
  reason: UserError,
  { signal }: Following,
): Promise<JobResult> {
  const experiment = host.experiment(job);
  refuseOtherPlan(experiment, job.run);
  const folder = experiment.runFolder(job.run.id);
  using _ = await folder.acquire({ signal });
  await finishArchiving(folder);
  const record = folder.readRecord();
  if (job.kind === 'run' && record?.status !== 'finished')
    return resultOf(await failRun(job.run, { folder, versions: host.versions }, reason));
  if (record === null) return { record, problem: notBegun };
  return isLeft(job, folder) ? { record, problem: `not graded: ${reason.message}` } : resultOf(record);
}

async function executeRunJob(
  job: RunJob,
  experiment: Experiment,
  folder: RunFolder,
  host: JobHost,
  { signal, onProgress }: Following,
): Promise<JobResult> {
  const { run } = job;
  const earlier = folder.readRecord();
  if (earlier?.status === 'finished') {
    onProgress({ kind: 'run_kept', run, record: earlier });
    // The process that ended it may have been killed before it compressed the trace, or while it wrote grades.
    await compressTrace(folder);
    folder.freeResults();
    return resultOf(earlier);
  }
  const startsOver = earlier !== null && attemptNumbers(folder).length < job.archived_attempts;
  if (earlier !== null && !startsOver && host.gate === undefined && waitsStill(folder, earlier)) {
    onProgress({ kind: 'run_kept', run, record: earlier });
    return resultOf(earlier);
  }
  const agent = await (host.agentOf?.(run, signal) ?? agentOfRun(run));
  refuseChangedProgram(agent, run.agent_options, run.agent_version);
  const resources = await resourcesOf(job, host, signal);
  await using gpus = await gpusFor(job, host, { signal, onProgress });
  const bundle = agent.program === undefined ? null : ((await host.bundle?.(run, signal)) ?? null);
  // A run that was cut off before it had a trace has done nothing.
  const hasBegun = earlier !== null && folder.hasTrace();
  // A program's actions can't be replayed: if it has no session, unfinished work is archived as an attempt.
  const isUnfinished = hasBegun && recordedEnd(folder) === null;
  const isLost = isUnfinished && agent.program !== undefined && !canContinue(agent, run, folder, earlier);
  const again = !isLost
    ? {}
    : ({ again: hasNoStepYet(agent, run, folder) ? 'no_step' : 'no_session' } as const);
  if (startsOver || isLost) await archiveAttempt(folder);
  const resumed = hasBegun && !startsOver && !isLost;
  onProgress({ kind: 'run_started', run, resumed, ...again });
  await forkFromParent(job, folder, signal);
  const record = await executeRun(run, {
    ...{ folder, resources, agent, bundle, gpus, threads: job.resources.threads },
    signal: gpus === undefined ? signal : AbortSignal.any([signal, gpus.lost]),
    helpersFolder: host.helpersFolder,
    dockerCommand: host.dockerCommand,
    versions: host.versions,
    models: host.models(job, experiment),
    askPerson: run.interactive === true ? host.askPerson : undefined,
    ...gateOf(run, folder, host),
    reference: agent.needs.reference ? solutionFiles(resources.task, 'solution') : null,
    onProgress: (progress) => onProgress({ kind: 'run_step', run, progress }),
  });
  onProgress({ kind: 'run_ended', run, record });
  return resultOf(record);
}

/** Who decides on actions: the person at this process, or people who decide later. */
function gateOf({ approve_later: later }: RunSpec, folder: RunFolder, { gate }: JobHost) {
  if (gate !== undefined || later !== true) return { gate };
  return { gate: gateOnDisk(folder), longestGateWait: longestWaitMs };
}

async function executeGradeJob(
  job: GradeJob,
  experiment: Experiment,
  folder: RunFolder,
  host: JobHost,
  { signal, onProgress }: Following,
): Promise<JobResult> {
  const { run, which } = job;
  const record = folder.readRecord();
  if (record === null) return { record, problem: notBegun };
  const result = resultOf(record);
  if (result.problem !== null || isGraded(folder, which)) return result;
  try {
    const resources = await resourcesOf(job, host, signal);
    await using gpus = await gpusFor(job, host, { signal, onProgress });
    const grades = await gradeRun({
      ...{ folder, ...resources, which, signal, gpus: gpus?.gpus },
      helpersFolder: host.helpersFolder,
      dockerCommand: host.dockerCommand,
      toolModel: offersModel(resources.task)
        ? toolModelFor(run, resources.task, host.models(job, experiment))
        : undefined,
    });
    onProgress({ kind: 'run_graded', run, grades });
    return result;
  } catch (error) {
    const message = signal.aborted ? notGradedYet : `not graded: ${messageOf(error)}`;
    const name = signal.aborted ? 'interrupted' : errorName(error);
    onProgress({ kind: 'run_not_graded', run, message, error: name });
    return { record, problem: message };
  }
}

/** Whether something is left to do that needs the task. */
function isLeft(job: Job, folder: RunFolder): boolean {
  const status = folder.readRecord()?.status;
  return job.kind === 'run' ? status !== 'finished' : status === 'finished' && !isGraded(folder, job.which);
}

/** This version may not be able to read what another version writes, or may misread it. */
function refuseOtherMlab({ mlab }: Job, { versions: { mlab: own } }: JobHost): void {
  if (own === undefined || mlab === '' || mlab === own) return;
  throw new UserError(
    'other_mlab',
    `${hostname()} has mlab ${own}, but the job was created by mlab ${mlab}.`,
    'Install one version on all machines, or create the jobs again with the mlab run command of the experiment.',
  );
}

async function gpusFor(
  { resources, run }: Job,
  { gpus }: JobHost,
  { signal, onProgress }: Following,
): Promise<HeldGpus | undefined> {
  const count = gpusOf(resources);
  if (count === 0) return undefined;
  const onWait = (place: string) => onProgress({ kind: 'run_queued', run, place });
  return await (gpus ?? new GpuLeases([], '', '')).lease(count, { signal, onWait });
}

async function resourcesOf(job: Job, host: JobHost, signal: AbortSignal): Promise<TaskResources> {
  const resources = await host.resources(job, signal);
  refuseChangedTask(resources.task, job.task.version);
  refuseOtherData(resources, job.task.data);
  return resources;
}

async function forkFromParent(
  { run: { parent }, parent_experiment: from }: RunJob,
  folder: RunFolder,
  signal: AbortSignal,
): Promise<void> {
  if (parent === undefined || from === undefined) return;
  await forkRun(openExperiment(from).runFolder(parent.run), parent, folder, signal);
}

/** A job can outlive its experiment's folder, which may have been deleted and planned again. */
function refuseOtherPlan(experiment: Experiment, run: RunSpec): void {
  const planned = experiment.specOf(run.id);
  if (isDeepStrictEqual(planned, run)) return;
  throw new UserError(
    'job_differs',
    `The plan in ${experiment.folder} ${planned === null ? 'has no run' : 'does not match the run'} ${run.id}.`,
    'Create its jobs again with the mlab run command of the experiment.',
  );
}
