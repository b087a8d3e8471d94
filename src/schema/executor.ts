import { z } from 'zod';

/** One word of a Slurm command line, such as a name or a list of names. */
const Word = z.string().regex(/^[^\s-][^\s]*$/, 'one word, without spaces, not beginning with -');

/** Options of sbatch by which mlab finds its jobs again; sbatch accepts the beginnings of names, too. */
const ownOptions = ['job-name', 'array', 'output', 'open-mode', 'export', 'chdir', 'signal', 'dependency'];

const SbatchOption = z
  .string()
  .regex(/^--[a-z]/, 'an option such as --reservation=night')
  .refine((option) => !ownOptions.some((own) => own.startsWith(option.slice(2).split(/[=\s]/, 1)[0] ?? '')), {
    error: `mlab itself sets ${ownOptions.map((name) => `--${name}`).join(', ')}`,
  });

/** Settings of an experiment's jobs on Slurm. */
export const SlurmSettings = z.strictObject({
  partition: Word.optional().describe('partition, or several with commas'),
  account: Word.optional().describe('account that the jobs are charged to'),
  qos: Word.optional().describe('quality of service'),
  time: Word.optional().describe(
    'time limit of a job in the format of sbatch (2:00:00); a run that needs longer is requeued and resumes',
  ),
  gres: Word.optional().describe(
    'generic resources of a job with GPUs; default: gpu:1, or as many as its run has',
  ),
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
    .describe("maximum number of jobs in one array; default: the cluster's MaxArraySize"),
  signal_seconds: z
    .int()
    .min(5)
    .max(65_535)
    .default(120)
    .describe('seconds before its time limit at which a run is asked to stop after its step'),
  requeues: z
    .int()
    .min(0)
    .default(100)
    .describe('maximum number of times that one job is requeued after its time limit'),
  preamble: z
    .string()
    .default('')
    .describe('shell lines to run on a node before mlab starts, for example to load modules or keys'),
  command: z
    .string()
    .min(1)
    .optional()
    .describe('shell command that starts mlab on a node; default: as it was started here'),
  gateway_on: z
    .union([z.enum(['node', 'submit']), z.url({ protocol: /^https?$/, error: 'node, submit or an address' })])
    .default('node')
    .describe(
      'where language models are called from: the nodes, which then need keys and network access; this mlab run, which must keep running; or a gateway at an address, with its token in MLAB_GATEWAY_TOKEN',
    ),
  gateway_host: Word.optional().describe('name by which nodes reach this machine; default: its host name'),
  gateway_port: z.int().min(0).max(65_535).default(0).describe('port of the gateway; 0: any free port'),
  gateway_certificate: z
    .string()
    .min(1)
    .optional()
    .describe('PEM file with which the gateway speaks TLS; nodes trust it and need it at the same path'),
  gateway_key: z.string().min(1).optional().describe('PEM file with the key of the certificate'),
  export: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'the name of a variable: letters, digits and "_"'))
    .default([])
    .describe('further environment variables to pass to jobs; Slurm stores their values, so name no keys'),
  options: z.array(SbatchOption).default([]).describe('further options of sbatch'),
});
export type SlurmSettings = z.infer<typeof SlurmSettings>;

/** Settings of jobs for Redis workers. */
export const RedisSettings = z.strictObject({
  labels: z
    .array(z.string().regex(/^[A-Za-z0-9_.=]+$/, 'letters, digits, _, . and ='))
    .default([])
    .describe('labels that a worker must have to take a job'),
  artifacts: z
    .string()
    .regex(/^s3:\/\/[a-z0-9][a-z0-9.-]+[a-z0-9](\/[\w.-]+)*\/?$/, 's3://BUCKET or s3://BUCKET/FOLDER')
    .optional()
    .describe(
      'S3-compatible store through which workers and this machine exchange what runs leave, s3://BUCKET/FOLDER; default: the experiment is in a folder that all of them share',
    ),
});
export type RedisSettings = z.infer<typeof RedisSettings>;

const Name = z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a name of Kubernetes: a-z, 0-9, - and .');

/** Settings of an experiment's jobs on Kubernetes. */
export const KubernetesSettings = z.strictObject({
  image: z.string().min(1).describe('image with mlab, bubblewrap and Python'),
  volumes: z
    .array(
      z.strictObject({
        claim: Name.describe('a PersistentVolumeClaim that several pods may write'),
        path: z.string().startsWith('/').describe('where it is mounted, here and in pods'),
      }),
    )
    .min(1)
    .describe('volumes with the experiment and the cache, at the same path as here'),
  namespace: Name.default('default').describe('namespace of the jobs'),
  context: z
    .string()
    .min(1)
    .optional()
    .describe('context of the kubectl configuration; default: the current one'),
  cores: z.int().min(1).default(1).describe('cores that a job requests'),
  memory_mb: z
    .int()
    .min(1)
    .optional()
    .describe("memory of a job; default: the run's limit and 512 MB for mlab"),
  gpu_resource: z.string().min(1).default('nvidia.com/gpu').describe('resource name of GPUs in the cluster'),
  secrets: z
    .array(Name)
    .default([])
    .describe(
      'names of Secrets whose entries become environment variables of the pods, such as keys of providers',
    ),
  service_account: Name.optional().describe('service account of the pods'),
  node_selector: z.record(z.string(), z.string()).optional().describe('labels that nodes must have'),
  tolerations: z
    .array(z.record(z.string(), z.union([z.string(), z.number()])))
    .optional()
    .describe('tolerations of the pods'),
  privileged: z
    .boolean()
    .default(false)
    .describe('run privileged pods: bubblewrap needs them if user namespaces are off on the nodes'),
  retries: z.int().min(0).default(3).describe('how often a failed pod is replaced; evictions do not count'),
  keep_seconds: z.int().min(0).default(86_400).describe('how long ended jobs are kept'),
  command: z.string().min(1).default('mlab').describe('shell command that starts mlab in the image'),
});
export type KubernetesSettings = z.infer<typeof KubernetesSettings>;

/** Where jobs are executed, with the settings of each place. They may change each time an experiment is resumed. */
export const ExecutorSettings = z.strictObject({
  on: z
    .string()
    .min(1)
    .optional()
    .describe(
      'local, slurm, kubernetes, or redis with an address; default: where the jobs were submitted before, else local',
    ),
  slurm: SlurmSettings.optional().describe('settings of Slurm jobs'),
  kubernetes: KubernetesSettings.optional().describe('settings of Kubernetes jobs'),
  redis: RedisSettings.optional().describe('settings of jobs for Redis workers'),
});
export type ExecutorSettings = z.infer<typeof ExecutorSettings>;
