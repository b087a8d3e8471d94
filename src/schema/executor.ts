import { z } from 'zod';

/** A part of a command line of Slurm's, such as a name or a list of them. */
const Word = z.string().regex(/^[^\s-][^\s]*$/, 'one word, without spaces, not beginning with -');

/** What is asked of Slurm for the jobs of an experiment. */
export const SlurmSettings = z.strictObject({
  partition: Word.optional().describe('partition, or several with commas'),
  account: Word.optional().describe('account that the jobs are charged to'),
  qos: Word.optional().describe('quality of service'),
  time: Word.optional().describe(
    'time limit of a job, as sbatch takes it (2:00:00); a run that needs longer is queued again and goes on',
  ),
  gres: Word.optional().describe('what a job with GPUs asks for; default: gpu:1, or as many as its run has'),
  constraint: Word.optional().describe('features that nodes must have'),
  cores: z.int().min(1).default(1).describe('cores of a job'),
  memory_mb: z
    .int()
    .min(1)
    .optional()
    .describe("memory of a job; default: the run's limit and 512 MB for mlab"),
  array_size: z
    .int()
    .min(1)
    .optional()
    .describe("most jobs of one array; default: the cluster's MaxArraySize"),
  signal_seconds: z
    .int()
    .min(5)
    .max(65_535)
    .default(120)
    .describe('how long before its time limit a run is asked to stop after its step'),
  requeues: z
    .int()
    .min(0)
    .default(100)
    .describe('how often one job is queued again after its time limit, at most'),
  preamble: z
    .string()
    .default('')
    .describe('lines of shell before mlab starts on a node: modules, where keys lie'),
  command: z
    .string()
    .min(1)
    .optional()
    .describe('how mlab is started on a node, in words of the shell; default: as it was started here'),
  gateway_on: z
    .union([z.enum(['node', 'submit']), z.url({ protocol: /^https?$/, error: 'node, submit or an address' })])
    .default('node')
    .describe(
      'where language models are asked: by the nodes, which need keys and a way out; by this mlab run, which has to go on; or by a gateway at an address, with its token in MLAB_GATEWAY_TOKEN',
    ),
  gateway_host: Word.optional().describe('what nodes call this machine; default: its host name'),
  gateway_port: z
    .int()
    .min(0)
    .max(65_535)
    .default(0)
    .describe('where the gateway listens; default: any port'),
  gateway_certificate: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file: the gateway speaks TLS; nodes trust it and need the file at the same path'),
  gateway_key: z.string().min(1).optional().describe('PEM file with the key of the certificate'),
  export: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
    .default([])
    .describe('further variables that jobs take along; Slurm keeps their values, so name no keys'),
  options: z
    .array(z.string().regex(/^--[a-z]/, 'an option such as --reservation=night'))
    .default([])
    .describe('further options of sbatch'),
});
export type SlurmSettings = z.infer<typeof SlurmSettings>;

/** What is asked of the workers of a Redis. */
export const RedisSettings = z.strictObject({
  labels: z
    .array(z.string().regex(/^[A-Za-z0-9_.=]+$/, 'letters, digits, _, . and ='))
    .default([])
    .describe('labels that a worker must have to take a job'),
});
export type RedisSettings = z.infer<typeof RedisSettings>;

/** Where jobs are executed, and what is asked for there. It may differ each time that an experiment goes on. */
export const ExecutorSettings = z.strictObject({
  on: z.string().min(1).optional(),
  slurm: SlurmSettings.optional().describe('what jobs ask of Slurm'),
  redis: RedisSettings.optional().describe('what jobs ask of workers'),
});
export type ExecutorSettings = z.infer<typeof ExecutorSettings>;
