import { cpus } from 'node:os';
import type { GradeJob, Job, Plan, RunJob, RunSpec } from '../../schema/index.ts';
import type { Experiment } from '../../store/index.ts';
import type { Task } from '../../tasks/index.ts';
import { archivedAttempts } from '../archived-attempts.ts';

/** What the jobs of an experiment have in common. */
export interface JobSettings {
  /** With what may differ from the frozen plan as it is wanted now: spend, providers, prices, how many at once. */
  plan: Plan;
  experiment: Experiment;
  tasks: ReadonlyMap<string, Task>;
  provisioning: Job['provisioning'];
  /** Relative paths of scripted models start there. */
  modelsFolder: string;
  mlab: string;
  parentExperiment?: string | undefined;
  /** Cores of each job; default: this machine's, shared by those that are executed at once. */
  threads?: number | undefined;
}

/** @param again an attempt that did not end is put away first, and the run starts over */
export function makeRunJob(run: RunSpec, settings: JobSettings, again: boolean): RunJob {
  const folder = settings.experiment.runFolder(run.id);
  const isAgain = again && folder.readRecord() !== null;
  return {
    kind: 'run',
    ...commonPart(run, settings),
    archived_attempts: archivedAttempts(folder).length + (isAgain ? 1 : 0),
    ...(settings.parentExperiment === undefined ? {} : { parent_experiment: settings.parentExperiment }),
  };
}

export function makeGradeJob(run: RunSpec, settings: JobSettings, which: 'final' | 'all'): GradeJob {
  const common = commonPart(run, settings);
  const isTimed = measuresTime(settings.tasks.get(run.task));
  return { kind: 'grade', ...common, which, resources: { ...common.resources, exclusive: isTimed } };
}

/** Whether its grading takes the time of submitted code. */
export function measuresTime(task: Task | undefined): boolean {
  return task?.file.grading.runs_submission === true;
}

function commonPart(
  run: RunSpec,
  { plan, experiment, tasks, provisioning, modelsFolder, mlab, threads: wanted }: JobSettings,
) {
  const threads = wanted ?? Math.max(1, Math.floor(cpus().length / plan.parallel));
  const { providers = {}, prices = {}, spend = {} } = plan;
  return {
    v: 1 as const,
    mlab,
    experiment: experiment.folder,
    run,
    task: { id: run.task, version: run.task_version, folder: tasks.get(run.task)?.folder ?? '' },
    provisioning,
    ...(run.roles === undefined ? {} : { models: { providers, prices, folder: modelsFolder } }),
    quota: spend,
    resources: {
      ...{ cores: threads, threads, gpu: run.gpu, exclusive: false },
      memory_mb: run.limits.memory_mb,
    },
  };
}
