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

const Name = z.string().regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a name of Kubernetes: a-z, 0-9, - and .');

/** What is asked of Kubernetes for the jobs of an experiment. */
export const KubernetesSettings = z.strictObject({
  image: z.string().min(1).describe('image that holds mlab, with bubblewrap and Python'),
  volumes: z
    .array(
      z.strictObject({
        claim: Name.describe('a PersistentVolumeClaim that many pods may write'),
        path: z.string().startsWith('/').describe('where it is, here and in pods'),
      }),
    )
    .min(1)
    .describe('where the experiment and the cache lie, at the same path as here'),
  namespace: Name.default('default').describe('namespace of the jobs'),
  context: z
    .string()
    .min(1)
    .optional()
    .describe('context of the configuration of kubectl; default: the current one'),
  cores: z.int().min(1).default(1).describe('cores that a job asks for'),
  memory_mb: z
    .int()
    .min(1)
    .optional()
    .describe("memory of a job; default: the run's limit and 512 MB for mlab"),
  gpu_resource: z.string().min(1).default('nvidia.com/gpu').describe('what GPUs are called in the cluster'),
  secrets: z
    .array(Name)
    .default([])
    .describe('Secrets whose entries are variables of the pods: keys of providers, by name only'),
  service_account: Name.optional().describe('service account of the pods'),
  node_selector: z.record(z.string(), z.string()).optional().describe('labels that nodes must have'),
  tolerations: z
    .array(z.record(z.string(), z.union([z.string(), z.number()])))
    .optional()
    .describe('taints of nodes that are no hindrance, as a pod names them'),
  privileged: z
    .boolean()
    .default(false)
    .describe('pods are privileged: where user namespaces are off on the nodes, bubblewrap needs it'),
  retries: z
    .int()
    .min(0)
    .default(3)
    .describe('how often a pod that failed is made again; evictions do not count'),
  keep_seconds: z.int().min(0).default(86_400).describe('how long jobs are kept that are over'),
  command: z
    .string()
    .min(1)
    .default('mlab')
    .describe('how mlab is started in the image, in words of the shell'),
});
export type KubernetesSettings = z.infer<typeof KubernetesSettings>;

/** Where jobs are executed, and what is asked for there. It may differ each time that an experiment goes on. */
export const ExecutorSettings = z.strictObject({
  on: z.string().min(1).optional(),
  slurm: SlurmSettings.optional().describe('what jobs ask of Slurm'),
  kubernetes: KubernetesSettings.optional().describe('what jobs ask of Kubernetes'),
  redis: RedisSettings.optional().describe('what jobs ask of workers'),
});
export type ExecutorSettings = z.infer<typeof ExecutorSettings>;
