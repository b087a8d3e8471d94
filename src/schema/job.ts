import { z } from 'zod';
import { ExperimentQuota } from './experiment.ts';
import { TaskId } from './ids.ts';
import { ModelPrice, ProviderSettings } from './model.ts';
import { RunSpec } from './run.ts';

/** What a scheduler reserves for a job, and the limits of the job. */
export const JobResources = z.strictObject({
  /** Less than one if many jobs share the cores of one machine. */
  cores: z.number().positive(),
  /** For agent code or the grader; the process that executes the job needs more. */
  memory_mb: z.int().min(1),
  gpu: z.boolean(),
  /** How many; absent: one, if it has any. */
  gpus: z.int().min(0).optional(),
  /** Threads that numerical libraries may use. */
  threads: z.int().min(1),
  /** It measures time: nothing else may run on these cores. */
  exclusive: z.boolean(),
});
export type JobResources = z.infer<typeof JobResources>;

const job = {
  v: z.literal(1),
  /** The version of mlab that made the job. */
  mlab: z.string(),
  /** Absolute path of the experiment's folder, with its plan and runs. */
  experiment: z.string(),
  /** As in the plan. */
  run: RunSpec,
  task: z.strictObject({
    id: TaskId,
    version: z.string(),
    /** Hash over the files of its data on the machine that made the job; absent in jobs of earlier versions. */
    data: z.string().optional(),
    /**
     * Absolute path of its folder on the machine that made the job; a worker without that folder looks for the task's
     * id.
     */
    folder: z.string(),
  }),
  /** How to provision data and Python if they are missing. */
  provisioning: z.strictObject({
    mirror: z.string().optional(),
    interpreter: z.string().optional(),
    allow_unverified: z.boolean(),
  }),
  /**
   * How to reach language models and what they cost; absent if the run calls none. Keys come from the worker's
   * environment.
   */
  models: z
    .strictObject({
      providers: z.record(z.string(), ProviderSettings),
      prices: z.record(z.string(), ModelPrice),
      /** Absolute path to which paths of scripted models are relative. */
      folder: z.string(),
    })
    .optional(),
  /** What all jobs of the experiment may spend together. */
  quota: ExperimentQuota,
  resources: JobResources,
};

/** Execute a run, from its start or from where it stopped. */
export const RunJob = z.strictObject({
  kind: z.literal('run'),
  ...job,
  /**
   * How many earlier attempts at the run must be archived; if there are fewer, the current attempt is archived first.
   */
  archived_attempts: z.int().min(0),
  /** Absolute path of the folder of the experiment from which the run is forked. */
  parent_experiment: z.string().optional(),
});
export type RunJob = z.infer<typeof RunJob>;

/** Grade a finished run. */
export const GradeJob = z.strictObject({
  kind: z.literal('grade'),
  ...job,
  which: z.enum(['final', 'all']),
});
export type GradeJob = z.infer<typeof GradeJob>;

/**
 * Everything that a worker needs for one piece of an experiment's work, in any process, on any machine that sees the
 * store. Contains no secrets.
 */
export const Job = z.discriminatedUnion('kind', [RunJob, GradeJob]);
export type Job = z.infer<typeof Job>;
