import { z } from 'zod';
import { TaskId } from './ids.ts';
import { Limits } from './limits.ts';

const relativePath = z
  .string()
  .min(1)
  .refine((path) => !path.startsWith('/') && !path.split('/').includes('..'), 'a relative path without ".."');

const tooCostly =
  'a glob of at most 200 characters, without (, |, [:, ranges or braces in braces, with at most 3 "*" in a name, 3 "**" and 50 alternatives';

/** Whether matching it is fast for any path: globs become regular expressions, one for each alternative. */
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
  mean: z
    .number()
    .describe(
      'mean hidden score over the seeds, in the unit of the metric; mlab tasks baseline --write writes this and the figures after it',
    ),
  spread: z.number().min(0).describe('sample standard deviation over the seeds'),
  seeds: z.int().min(1).describe('how many seeds were run'),
  seconds: z
    .number()
    .min(0)
    .describe(
      'mean time of one run of the script, in seconds; the processor time where other programs kept it waiting',
    ),
});

export const Metric = z.strictObject({
  name: z.string().min(1).describe("the field's name for the metric, such as accuracy or MAE"),
  unit: z.string().min(1).describe('unit of a score, such as fraction or US dollars'),
  direction: z.enum(['maximize', 'minimize']).describe('which scores are better'),
  best: z.number().optional().describe('the best possible score'),
  chance: z.number().optional().describe('the score of guessing'),
});
export type Metric = z.infer<typeof Metric>;

/** One column of a CSV submission. */
export const SubmissionColumn = z.strictObject({
  name: z.string().min(1).describe('name of the column'),
  type: z.enum(['number', 'integer', 'text']).default('number').describe('type of the values'),
  min: z.number().optional().describe('smallest value allowed'),
  max: z.number().optional().describe('largest value allowed'),
  values: z.array(z.string()).min(1).optional().describe('the only values allowed'),
});

const serviceName = z.string().regex(/^[a-z][a-z0-9-]{0,30}$/, 'lower-case letters, digits and "-"');

/**
 * A local service that runs beside the agent, and beside submitted code while it is graded: they can reach it only
 * through a socket.
 */
export const Service = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('script').optional().describe('a script of the task; the default'),
    name: serviceName.describe('name of its socket'),
    script: relativePath.describe(
      'Python script below hidden/, started with --socket, --public and --private',
    ),
  }),
  z.strictObject({
    kind: z.literal('model').describe("the run's language model, served and metered by the harness"),
    name: serviceName.describe('name of its socket'),
    graded_tokens: z
      .int()
      .min(1)
      .default(200_000)
      .describe('maximum number of tokens that one submission may use during grading'),
  }),
]);
export type Service = z.infer<typeof Service>;

export const SubmissionFile = z.discriminatedUnion('format', [
  z.strictObject({
    format: z.literal('csv'),
    path: relativePath.describe('path in the workspace'),
    id: z
      .strictObject({
        column: z.string().min(1).describe('the column that names the row'),
        from: relativePath.describe(
          'a CSV file of the public data that lists all ids in a column of that name',
        ),
      })
      .describe('rows are matched by this id, never by position'),
    columns: z.array(SubmissionColumn).min(1).describe('the other columns'),
  }),
  z.strictObject({
    format: z.literal('python'),
    path: relativePath.describe('path in the workspace'),
    defines: z
      .array(z.string().min(1))
      .describe('functions that the module must define; [] for a module that others import'),
  }),
  z.strictObject({
    format: z
      .literal('file')
      .describe('any other format, such as JSON lines; the grader checks what is in the file'),
    path: relativePath.describe('path in the workspace'),
    description: z.string().min(1).describe('what it contains, such as weights in the safetensors format'),
  }),
]);
export type SubmissionFile = z.infer<typeof SubmissionFile>;

/** Files too many for one archive: listed by a script, fetched one by one. */
export const Collection = z.strictObject({
  list: z
    .string()
    .regex(/^[\w-]+\.py$/, 'a Python script in hidden/')
    .describe('script in hidden/ that lists the files; it sees the other sources, unpacked'),
  hosts: z.array(z.string().min(1)).min(1).describe('the only hosts that files may come from'),
  within: relativePath
    .optional()
    .describe('folder of the unpacked downloads from which existing files are taken'),
  at_once: z.int().min(1).max(16).default(4).describe('number of parallel connections'),
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
    .describe('share of the files that may be missing at their source'),
});
export type Collection = z.infer<typeof Collection>;

export const Source = z
  .strictObject({
    file: z
      .string()
      .regex(/^[\w.-]+$/, 'a plain file name')
      .describe('name of the file in the downloads folder and in a mirror'),
    url: z.url().optional().describe('where it is downloaded from'),
    kaggle: z.string().optional().describe('the Kaggle competition it belongs to'),
    collection: Collection.optional().describe('a folder of many files, downloaded one by one'),
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'a SHA-256: 64 digits and letters from a to f')
      .optional()
      .describe('checked before use; a file without one counts as unverified'),
    bytes: z.int().positive().optional().describe('size of the download'),
    licence: z.string().min(1).describe('licence of the data, and where it is stated'),
    optional: z
      .boolean()
      .default(false)
      .describe('the task also works without it: prepare.py checks whether it is in --downloads'),
    unpack: z
      .enum(['zip', 'tar', 'none'])
      .default('none')
      .describe('how it is unpacked, into a folder beside it, before prepare.py runs'),
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

/** Packages that have no wheel. */
export const Build = z.strictObject({
  packages: z
    .array(z.string().regex(/^[A-Za-z0-9][\w.-]*$/, 'the name of a package'))
    .min(1)
    .describe('names in requirements.txt'),
  tools: z
    .array(z.string().regex(/^[A-Za-z0-9][\w.-]*==[A-Za-z0-9][\w.+!-]*$/, 'name==version'))
    .min(1)
    .describe('what builds them, from wheels, with its dependencies: such as setuptools==84.0.0'),
});
export type Build = z.infer<typeof Build>;

/** `task.yaml`: everything the harness knows of a task. */
export const TaskFile = z
  .strictObject({
    schema: z.literal(1).describe('version of this format'),
    id: TaskId.describe('name of the task and of its folder'),
    title: z.string().min(1).max(300).describe('title for people'),
    category: z.string().min(1).describe('canonical, classic Kaggle, code improvement, …'),
    modality: z.string().min(1).describe('image classification, tabular regression, …'),
    summary: z.string().min(1).max(300).describe('one sentence for lists'),
    suites: z.array(z.string()).default([]).describe('named groups that the task belongs to'),
    problem: z.string().min(1).describe('the research problem in Markdown, as the agent reads it'),
    entry: relativePath.default('train.py').describe('the starter script, relative to env/'),
    metric: Metric.describe('what a score measures'),
    baseline: z
      .strictObject({
        method: z
          .enum(['starter', 'constant'])
          .describe('starter: env/ as it is; constant: a stated trivial predictor'),
        description: z.string().min(1).describe('what the baseline is'),
        ...measured.shape,
        machine: z.string().min(1).describe('where it was measured'),
        remedy: z
          .string()
          .min(1)
          .optional()
          .describe("what keeps noise from deciding if the starter's spread exceeds the success threshold"),
        paper: z
          .strictObject({
            value: z.number().describe('the score'),
            note: z.string().min(1).describe('where it comes from'),
          })
          .optional()
          .describe("the paper's own convention, kept for comparison"),
      })
      .describe(
        'what an improvement is measured against; mlab tasks baseline --write measures and writes its figures',
      ),
    reference: z
      .strictObject({
        description: z.string().min(1).describe('what the reference solution does'),
        ...measured.shape,
      })
      .describe(
        'the score of hidden/solution/; mlab tasks baseline --reference --write measures and writes it',
      ),
    sample: z
      .strictObject({
        description: z.string().min(1).describe('what hidden/sample.py makes in place of the sources'),
        baseline: z.strictObject(measured.shape).describe('figures of the baseline on this data'),
        reference: z.strictObject(measured.shape).describe('figures of the reference solution on this data'),
      })
      .optional()
      .describe('a small synthetic data set for `--sample`, with the figures measured on it'),
    data: z
      .strictObject({
        size: z.string().min(1).describe('size of the original data: rows, images, …'),
        split: z.string().min(1).describe('what is hidden, and how it was chosen'),
        licence: z.string().min(1).optional().describe('licence of the data if it has no source'),
        measured_on: z
          .strictObject({
            what: z.string().min(1).describe('the stand-in, such as a tenth of the images'),
            sha256: z
              .record(
                z.string(),
                z.string().regex(/^[0-9a-f]{64}$/, 'a SHA-256: 64 digits and letters from a to f'),
              )
              .describe(
                'SHA-256 of each of its files, by their names in sources; none if it was the sample data',
              ),
          })
          .optional()
          .describe('stand-in on which baseline and reference were measured; absent: the data itself'),
      })
      .optional()
      .describe('facts about the data; every task of this project has them'),
    variants: z
      .record(
        z.string().regex(/^[a-z][a-z0-9]*$/, 'lower-case letters and digits'),
        z.record(z.string(), z.unknown()),
      )
      .default({})
      .describe('by name: keys that replace those of the task; the variant is the task <id>-<name>'),
    success: z
      .strictObject({
        threshold: z.number().positive().default(0.1).describe('improvement above which a run is a success'),
      })
      .prefault({})
      .describe('what counts as a success'),
    limits: Limits.partial().default({}).describe('limits of a run that differ from the defaults'),
    resources: z
      .strictObject({
        gpu: z
          .enum(['none', 'optional', 'required'])
          .default('none')
          .describe('whether runs may have a GPU (with `--gpu`), or always get one'),
      })
      .prefault({})
      .describe('hardware that the task needs'),
    services: z
      .array(Service)
      .default([])
      .describe(
        'local services; the agent reaches each at $MLAB_SERVICES/<name>.sock, and has no network otherwise',
      ),
    sources: z.array(Source).default([]).describe('files that the data is made from'),
    build: Build.optional().describe(
      'packages without a wheel, built from source in a sandbox without a network',
    ),
    read_only: z
      .array(relativePath.refine(isSimpleGlob, tooCostly))
      .max(100)
      .default([])
      .describe('globs of files in env/ that the agent may not change; data/ is always read-only'),
    withheld: z
      .array(relativePath)
      .default([])
      .describe("files inside Python's site-packages that contain the task's data: hidden in the sandbox"),
    submission: z
      .strictObject({
        description: z.string().min(1).describe('one sentence for people and agents'),
        files: z.array(SubmissionFile).min(1).describe('every file to submit'),
        max_mb: z.int().positive().default(64).describe('maximum size of all files together, in MiB'),
      })
      .describe('what an agent submits'),
    grading: z
      .strictObject({
        runs_submission: z.boolean().default(false).describe('true if the grader has to run submitted code'),
        seconds: z
          .number()
          .positive()
          .default(300)
          .describe(
            'time limit of grading one submission; for submitted code, of all its processes together',
          ),
        memory_mb: z
          .int()
          .min(64)
          .default(2048)
          .describe('memory of the grader, and of each process of submitted code, in MiB'),
      })
      .prefault({})
      .describe('limits of the grader'),
    paper: z
      .array(
        z.strictObject({
          agent: z.string().describe('agent and model, as the paper names them'),
          success_rate: z.number().describe('in per cent'),
          improvement: z.number().optional().describe('in per cent'),
        }),
      )
      .default([])
      .describe("the paper's published numbers"),
  })
  .meta({ id: 'TaskFile' });
export type TaskFile = z.infer<typeof TaskFile>;

/** A task as agents see it: nothing in here is secret. */
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
/** In the form that people write: missing keys have their defaults. */
export type TaskBriefInput = z.input<typeof TaskBrief>;
