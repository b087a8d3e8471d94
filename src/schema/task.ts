import { z } from 'zod';
import { TaskId } from './ids.ts';
import { Limits } from './limits.ts';

const relativePath = z
  .string()
  .min(1)
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), 'a relative path without ".."');

const tooCostly =
  'a glob of at most 200 characters, without (, |, [:, ranges or braces in braces, with at most 3 "*" in a name, 3 "**" and 50 alternatives';

/** Whether matching it costs little, whatever the path: globs become regular expressions, one for each alternative. */
function isSimpleGlob(glob: string): boolean {
  if (glob.length > 200 || /[(|]|\[:|\.\.|\{[^}]*\{/.test(glob)) return false;
  const alternatives = [...glob.matchAll(/\{([^}]*)\}?/g)].map(([, inside = '']) => inside.split(',').length);
  const deep = glob.split('/').filter((name) => name.includes('**')).length;
  const stars = glob.split('/').map((name) => name.replaceAll('**', '*').split('*').length - 1);
  return (
    alternatives.reduce((product, count) => product * count, 1) <= 50 && deep <= 3 && Math.max(...stars) <= 3
  );
}

const measured = z.strictObject({
  mean: z.number().describe('mean hidden score over the seeds, in the unit of the metric'),
  spread: z.number().min(0).describe('sample standard deviation over the seeds'),
  seeds: z.int().min(1).describe('how many seeds were run'),
  seconds: z.number().min(0).describe('mean wall time of one run of the script, in seconds'),
});

export const Metric = z.strictObject({
  name: z.string().min(1).describe("the field's name of the metric, such as accuracy or MAE"),
  unit: z.string().min(1).describe('unit of a score, such as fraction or US dollars'),
  direction: z.enum(['maximize', 'minimize']),
  best: z.number().optional().describe('the best score there can be'),
  chance: z.number().optional().describe('the score of guessing'),
});
export type Metric = z.infer<typeof Metric>;

/** One column of a CSV submission. */
export const SubmissionColumn = z.strictObject({
  name: z.string().min(1),
  type: z.enum(['number', 'integer', 'text']).default('number'),
  min: z.number().optional(),
  max: z.number().optional(),
  values: z.array(z.string()).min(1).optional().describe('the only values that are allowed'),
});

const serviceName = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'lower-case letters, digits and "-"');

/**
 * A local service that runs beside the agent, and beside submitted code while it is graded: out of their reach but
 * for a socket.
 */
export const Service = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('script').optional().describe('a script of the task; the default'),
    name: serviceName,
    script: relativePath.describe(
      'Python script below hidden/, started with --socket, --public and --private',
    ),
  }),
  z.strictObject({
    kind: z.literal('model').describe("the run's language model, served and metered by the harness"),
    name: serviceName,
    graded_tokens: z
      .int()
      .min(1)
      .default(200_000)
      .describe('most tokens that one submission may use while it is graded'),
  }),
]);
export type Service = z.infer<typeof Service>;

export const SubmissionFile = z.discriminatedUnion('format', [
  z.strictObject({
    format: z.literal('csv'),
    path: relativePath,
    id: z
      .strictObject({
        column: z.string().min(1).describe('the column that names the row'),
        from: relativePath.describe(
          'a CSV file of the public data that lists all ids in a column of that name',
        ),
      })
      .describe('rows are matched by this id, never by position'),
    columns: z.array(SubmissionColumn).min(1),
  }),
  z.strictObject({
    format: z.literal('python'),
    path: relativePath,
    defines: z.array(z.string().min(1)).min(1).describe('functions that the module must define'),
  }),
  z.strictObject({
    format: z.literal('file'),
    path: relativePath,
    description: z.string().min(1).describe('what it holds, such as weights in the safetensors format'),
  }),
]);
export type SubmissionFile = z.infer<typeof SubmissionFile>;

/** Files too many for one archive: listed by a script, fetched one by one. */
export const Collection = z.strictObject({
  list: z
    .string()
    .regex(/^[\w-]+\.py$/, 'a Python script in hidden/')
    .describe('script in hidden/ that writes which files there are; it sees the other sources, unpacked'),
  hosts: z.array(z.string().min(1)).min(1).describe('the only hosts that files may come from'),
  within: relativePath
    .optional()
    .describe('folder of the unpacked downloads that files are taken from where they are there'),
  at_once: z.int().min(1).max(16).default(4).describe('connections at the same time'),
  files_max: z.int().positive().default(100_000).describe('a longer list is refused'),
  file_bytes_max: z
    .int()
    .positive()
    .default(64 * 2 ** 20)
    .describe('a larger file is refused'),
  bytes_max: z.int().positive().describe('more than this in all is refused'),
  missing_max: z
    .number()
    .min(0)
    .max(0.5)
    .default(0)
    .describe('share of the files that may be gone at their source'),
});
export type Collection = z.infer<typeof Collection>;

export const Source = z
  .strictObject({
    file: z
      .string()
      .regex(/^[\w.-]+$/, 'a plain file name')
      .describe('name of the file in the downloads folder and in a mirror'),
    url: z.url().optional().describe('where it is downloaded from'),
    kaggle: z.string().optional().describe('the Kaggle competition that it belongs to'),
    collection: Collection.optional().describe('not one file but a folder of many, fetched one by one'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional()
      .describe('checked before use; a file without one counts as unverified'),
    bytes: z.int().positive().optional().describe('size of the download'),
    licence: z.string().min(1).describe('licence of the data and where it stands'),
    optional: z
      .boolean()
      .default(false)
      .describe('the task works without it too: prepare.py goes by whether it is in --downloads'),
    unpack: z
      .enum(['zip', 'tar', 'none'])
      .default('none')
      .describe('unpacked into a folder beside it before prepare.py runs'),
    unpacked_bytes_max: z
      .int()
      .positive()
      .default(4 * 2 ** 30)
      .describe('unpacking more than this is refused'),
  })
  .refine(
    ({ url, kaggle, collection }) =>
      [url, kaggle, collection].filter((way) => way !== undefined).length === 1,
    { error: 'give either url, kaggle or collection' },
  );
export type Source = z.infer<typeof Source>;

/** `task.yaml`: everything the harness knows of a task. */
export const TaskFile = z
  .strictObject({
    schema: z.literal(1),
    id: TaskId,
    title: z.string().min(1).max(300),
    category: z.string().min(1).describe('canonical, classic Kaggle, code improvement, …'),
    modality: z.string().min(1).describe('image classification, tabular regression, …'),
    summary: z.string().min(1).max(300).describe('one sentence for lists'),
    suites: z.array(z.string()).default([]),
    problem: z.string().min(1).describe('the research problem in Markdown, as the agent reads it'),
    entry: relativePath.default('train.py').describe('the starter script, relative to env/'),
    metric: Metric,
    baseline: z.strictObject({
      method: z
        .enum(['starter', 'constant'])
        .describe('starter: env/ as it is; constant: a stated trivial predictor'),
      description: z.string().min(1),
      ...measured.shape,
      machine: z.string().min(1).describe('where it was measured'),
      remedy: z
        .string()
        .min(1)
        .optional()
        .describe("what keeps the starter's noise from deciding, where it exceeds the success threshold"),
      paper: z
        .strictObject({ value: z.number(), note: z.string().min(1) })
        .optional()
        .describe("the paper's own convention, kept for comparison"),
    }),
    reference: z.strictObject({
      description: z.string().min(1),
      ...measured.shape,
    }),
    sample: z
      .strictObject({
        description: z.string().min(1).describe('what hidden/sample.py makes in the place of the sources'),
        baseline: z.strictObject(measured.shape),
        reference: z.strictObject(measured.shape),
      })
      .optional()
      .describe('a small made-up data set for `--sample`, with the numbers that were measured on it'),
    data: z
      .strictObject({
        size: z.string().min(1).describe('of the original: rows, images, …'),
        split: z.string().min(1).describe('what is hidden, and how it was chosen'),
        licence: z.string().min(1).optional().describe('of data that has no source'),
        measured_on: z
          .strictObject({
            what: z.string().min(1).describe('such as a tenth of the images'),
            sha256: z
              .record(z.string(), z.string().regex(/^[0-9a-f]{64}$/))
              .describe('of each of its files, by their names in sources; none where it was the sample data'),
          })
          .optional()
          .describe('the stand-in that baseline and reference were measured on; absent: the data itself'),
      })
      .optional()
      .describe('facts for docs/tasks.md: every task of this project has them'),
    variants: z
      .record(
        z.string().regex(/^[a-z][a-z0-9]*$/, 'lower-case letters and digits'),
        z.record(z.string(), z.unknown()),
      )
      .default({})
      .describe('by name: fields that replace those of the task; known as <id>-<name>'),
    success: z.strictObject({ threshold: z.number().positive().default(0.1) }).prefault({}),
    limits: Limits.partial().default({}),
    resources: z.strictObject({ gpu: z.enum(['none', 'optional', 'required']).default('none') }).prefault({}),
    services: z
      .array(Service)
      .default([])
      .describe('the agent reaches each at $MLAB_SERVICES/<name>.sock and nothing else: it has no network'),
    sources: z.array(Source).default([]),
    read_only: z
      .array(relativePath.refine(isSimpleGlob, tooCostly))
      .max(100)
      .default([])
      .describe('globs over env/ that the agent may not change; data/ always is read-only'),
    withheld: z
      .array(relativePath)
      .default([])
      .describe("files inside Python's site-packages that hold the task's data: absent in the sandbox"),
    submission: z.strictObject({
      description: z.string().min(1).describe('one sentence for people and agents'),
      files: z.array(SubmissionFile).min(1),
      max_mb: z.int().positive().default(64),
    }),
    grading: z
      .strictObject({
        runs_submission: z
          .boolean()
          .default(false)
          .describe('true where the grader has to run submitted code'),
        seconds: z
          .number()
          .positive()
          .default(300)
          .describe('of grading one submission; where it is run, of all its processes together'),
        memory_mb: z.int().min(64).default(2048),
      })
      .prefault({}),
    paper: z
      .array(
        z.strictObject({ agent: z.string(), success_rate: z.number(), improvement: z.number().optional() }),
      )
      .default([])
      .describe("the paper's published numbers, in per cent"),
  })
  .meta({ id: 'TaskFile' });
export type TaskFile = z.infer<typeof TaskFile>;

/** What an agent is told of its task: nothing in here is secret. */
export const TaskBrief = TaskFile.pick({
  id: true,
  title: true,
  problem: true,
  entry: true,
  metric: true,
  read_only: true,
  submission: true,
});
export type TaskBrief = z.infer<typeof TaskBrief>;
