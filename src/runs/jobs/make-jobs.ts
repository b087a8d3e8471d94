import type { GradeJob, Job, Plan, RunJob, RunSpec } from '../../schema/index.ts';
import { attemptNumbers, type Experiment } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
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
  return {
    ...{ kind: 'run', ...commonPart(run, settings), resources: runResources(run, settings) },
    archived_attempts: attemptNumbers(folder).length + (isAgain ? 1 : 0),
    ...(settings.parentExperiment === undefined ? {} : { parent_experiment: settings.parentExperiment }),
  };
}

export function makeGradeJob(run: RunSpec, settings: JobSettings, which: 'final' | 'all'): GradeJob {
  return {
    ...{ kind: 'grade', ...commonPart(run, settings), resources: gradeResources(run, settings) },
    which,
  };
}

type ResourceSettings = Pick<JobSettings, 'plan' | 'tasks' | 'threads' | 'isHere'>;

export function runResources(run: RunSpec, settings: ResourceSettings): Job['resources'] {
  // Scripts of several branches can run at the same time, if the run asks for that.
  return resourcesOf(run, settings, run.limits.memory_mb * (run.limits.branches_at_once ?? 1), false);
}

export function gradeResources(run: RunSpec, settings: ResourceSettings): Job['resources'] {
  const task = settings.tasks.get(run.task);
  return resourcesOf(run, settings, graderMemory(task) ?? run.limits.memory_mb, measuresTime(task));
}

/** The memory of the grader, and of submitted code beside it. */
function graderMemory(task: Task | undefined): number | undefined {
  return task === undefined ? undefined : task.file.grading.memory_mb * (measuresTime(task) ? 2 : 1);
}

/** Whether its grading measures the time of submitted code. */
export function measuresTime(task: Task | undefined): boolean {
  return task?.file.grading.runs_submission === true;
}

function commonPart(run: RunSpec, settings: JobSettings): Omit<GradeJob, 'kind' | 'which' | 'resources'> {
  const { plan, experiment, tasks, provisioning, modelsFolder, mlab } = settings;
  const { providers = {}, prices = {}, spend = {} } = plan;
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
  };
}

/**
 * @param memoryMb the most that the job may use
 * @param exclusive whether nothing else may run beside it
 */
function resourcesOf(
  run: RunSpec,
  { plan, threads, isHere }: ResourceSettings,
  memoryMb: number,
  exclusive: boolean,
): Job['resources'] {
  const machine = machineAmounts();
  const { cores = machine.cores / plan.parallel, memory_mb: wanted } = plan.resources ?? {};
  // A run can use no more than the machine has: one that may use more than that is executed alone.
  const most = machine.memory_mb / (plan.resources === undefined ? plan.parallel : 1);
  const here = Math.max(1, Math.floor(Math.min(memoryMb, most)));
  const gpus = gpusOf(run);
  return {
    cores: threads ?? cores,
    threads: threads ?? Math.max(1, Math.floor(cores)),
    memory_mb: wanted ?? (isHere === true ? here : memoryMb),
    ...{ gpu: gpus > 0, gpus, exclusive },
  };
}
