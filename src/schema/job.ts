import { z } from 'zod';
import { Spend } from './experiment.ts';
import { TaskId } from './ids.ts';
import { ModelPrice, ProviderSettings } from './model.ts';
import { RunSpec } from './run.ts';

/** What a scheduler reserves for a job, and what the job keeps to. */
export const JobResources = z.strictObject({
  /** Less than one where many jobs share the cores of one machine. */
  cores: z.number().positive(),
  /** Of agent code or of the grader; what executes the job comes on top. */
  memory_mb: z.int().min(1),
  gpu: z.boolean(),
  /** How many; absent: one, where it has any. */
  gpus: z.int().min(0).optional(),
  /** Threads that numerical libraries may use. */
  threads: z.int().min(1),
  /** It measures time: nothing else may run beside it on these cores. */
  exclusive: z.boolean(),
});
export type JobResources = z.infer<typeof JobResources>;

const job = {
  v: z.literal(1),
  /** The version of mlab that made the job. */
  mlab: z.string(),
  /** Absolute path of the experiment's folder, where its plan and its runs lie. */
  experiment: z.string(),
  /** As in the plan. */
  run: RunSpec,
  task: z.strictObject({
    id: TaskId,
    version: z.string(),
    /** Hash over the files of its data where the job was made; absent in jobs of earlier versions. */
    data: z.string().optional(),
    /** Absolute path of its folder where the job was made; a worker that has none there looks for its id. */
    folder: z.string(),
  }),
  /** How data and Python are got where they are not there yet. */
  provisioning: z.strictObject({
    mirror: z.string().optional(),
    interpreter: z.string().optional(),
    allow_unverified: z.boolean(),
  }),
  /** How language models are reached and what they cost; absent where the run asks none. Keys come from the worker's environment. */
  models: z
    .strictObject({
      providers: z.record(z.string(), ProviderSettings),
      prices: z.record(z.string(), ModelPrice),
      /** Absolute path that relative paths of scripted models start from. */
      folder: z.string(),
    })
    .optional(),
  /** What all jobs of the experiment may spend together. */
  quota: Spend,
  resources: JobResources,
};

/** Execute a run, from its start or from where it stopped. */
export const RunJob = z.strictObject({
  kind: z.literal('run'),
  ...job,
  /** Earlier attempts at the run that are to be archived; one that lies there beyond them is archived first. */
  archived_attempts: z.int().min(0),
  /** Absolute path of the folder of the experiment that the run is forked from. */
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

/** What a worker needs to know of one piece of an experiment's work, in any process, on any machine that sees the store. Nothing in it is secret. */
export const Job = z.discriminatedUnion('kind', [RunJob, GradeJob]);
export type Job = z.infer<typeof Job>;
