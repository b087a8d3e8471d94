import type { GradeJob, Job, Plan, RunJob, RunSpec } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
import { archivedAttempts } from '../archived-attempts.ts';
import { gpusOf, machineAmounts } from './capacity.ts';

/** What the jobs of an experiment share. */
export interface JobSettings {
  /**
   * The frozen plan, with the current values of what may differ from it: spend, providers, prices, the number of
   * concurrent runs.
   */
  plan: Plan;
  experiment: Experiment;
  tasks: ReadonlyMap<string, Task>;
  /** Hashes of the data of each task, see `dataVersion`. */
  data?: ReadonlyMap<string, string> | undefined;
  provisioning: Job['provisioning'];
  /** Relative paths of scripted models are relative to it. */
  modelsFolder: string;
  mlab: string;
  parentExperiment?: string | undefined;
  /** Cores of each job where it is executed; default: as the plan says, on this machine. */
  threads?: number | undefined;
  /** Whether the jobs are executed on this machine, whose memory limits what one of them holds. */
  isHere?: boolean;
}

/** @param again an incomplete attempt is archived first, and the run starts over */
export function makeRunJob(run: RunSpec, settings: JobSettings, again: boolean): RunJob {
  const folder = settings.experiment.runFolder(run.id);
  const isAgain = again && folder.readRecord() !== null;
  // Scripts of several branches can run at the same time, if the run asks for that.
  const memoryMb = run.limits.memory_mb * (run.limits.branches_at_once ?? 1);
  return {
    ...{ kind: 'run', ...commonPart(run, settings, { memoryMb }) },
    archived_attempts: archivedAttempts(folder).length + (isAgain ? 1 : 0),
    ...(settings.parentExperiment === undefined ? {} : { parent_experiment: settings.parentExperiment }),
  };
}

export function makeGradeJob(run: RunSpec, settings: JobSettings, which: 'final' | 'all'): GradeJob {
  const task = settings.tasks.get(run.task);
  const grading = { memoryMb: graderMemory(task) ?? run.limits.memory_mb, exclusive: measuresTime(task) };
  return { kind: 'grade', ...commonPart(run, settings, grading), which };
}

/** The memory of the grader, and of submitted code beside it. */
function graderMemory(task: Task | undefined): number | undefined {
  return task === undefined ? undefined : task.file.grading.memory_mb * (measuresTime(task) ? 2 : 1);
}

/** Whether its grading measures the time of submitted code. */
export function measuresTime(task: Task | undefined): boolean {
  return task?.file.grading.runs_submission === true;
}

function commonPart(
  run: RunSpec,
  settings: JobSettings,
  { memoryMb = run.limits.memory_mb, exclusive = false } = {},
): Omit<GradeJob, 'kind' | 'which'> {
  const { plan, experiment, tasks, provisioning, modelsFolder, mlab } = settings;
  const { providers = {}, prices = {}, spend = {} } = plan;
  const gpus = gpusOf(run);
  const data = settings.data?.get(run.task);
  return {
    v: 1,
    mlab,
    experiment: experiment.folder,
    run,
    task: {
      ...{ id: run.task, version: run.task_version, folder: tasks.get(run.task)?.folder ?? '' },
      ...(data === undefined ? {} : { data }),
    },
    provisioning,
    ...(run.roles === undefined ? {} : { models: { providers, prices, folder: modelsFolder } }),
    quota: spend,
    resources: { ...sharesOf(settings, memoryMb), gpu: gpus > 0, gpus, exclusive },
  };
}

/** @param memoryMb the most that the job may use */
function sharesOf({ plan, threads, isHere }: JobSettings, memoryMb: number) {
  const machine = machineAmounts();
  const { cores = machine.cores / plan.parallel, memory_mb: wanted } = plan.resources ?? {};
  // A run can use no more than the machine has: one that may use more than that is executed alone.
  const most = machine.memory_mb / (plan.resources === undefined ? plan.parallel : 1);
  const here = Math.max(1, Math.floor(Math.min(memoryMb, most)));
  return {
    cores: threads ?? cores,
    threads: threads ?? Math.max(1, Math.floor(cores)),
    memory_mb: wanted ?? (isHere === true ? here : memoryMb),
  };
}
