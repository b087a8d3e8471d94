import { z } from 'zod';
import type { SubmissionFile, TaskBrief } from '../../../schema/index.ts';
import { usualName } from '../metric-names.ts';

/** What `python/automl/look.py` prints of the data folder. */
const Look = z.object({
  packages: z.array(z.string()),
  given: z.array(z.string()).describe('columns of the submission that the rows to predict hold already'),
  tables: z.array(
    z.object({
      path: z.string(),
      rows: z.int(),
      has_id: z.boolean(),
      shared: z.int().describe('columns that the rows to predict have too, but for the id'),
      texts: z.int().describe('how many of these hold sentences'),
      more: z
        .array(
          z.object({
            name: z.string(),
            known: z.int(),
            distinct: z.int(),
            numeric: z.boolean(),
            values: z.array(z.string()).describe('all of them, where they are few'),
          }),
        )
        .describe('columns that the rows to predict do not have'),
    }),
  ),
});
type Look = z.infer<typeof Look>;
type Table = Look['tables'][number];
type CsvFile = Extract<SubmissionFile, { format: 'csv' }>;

/** What a model has to learn, from what, and what it has to write. */
export interface TableContract {
  train: string;
  test: string;
  submission: string;
  id: string;
  /** Columns of the training table; one for classes. */
  targets: string[];
  /** Columns of the submission with the probability of one class each; empty for none. */
  classColumns: string[];
  classifies: boolean;
  writesProbability: boolean;
  roundsToWhole: boolean;
  /** Least and greatest value of each target. */
  bounds: [number, number][];
  /** As `python/automl/table.py` calls it. */
  metric: string;
  /** The task's own metric is `metric`, so what the script prints is the task's measure. */
  isMeasured: boolean;
  rows: number;
  texts: number;
  shared: number;
}

const ofNumbers: Readonly<Record<string, string>> = {
  mae: 'mae',
  mse: 'mse',
  rmse: 'rmse',
  mcrmse: 'rmse',
  rmsle: 'rmsle',
  mape: 'mape',
  smape: 'smape',
  r2: 'r2',
};
const ofClasses: Readonly<Record<string, string>> = {
  accuracy: 'accuracy',
  'balanced accuracy': 'balanced accuracy',
  auc: 'auc',
  f1: 'f1',
  'log loss': 'log loss',
  'matthews correlation': 'mcc',
};
/** More different values than this are no classes. */
const mostClasses = 100;

/** The one table that the task asks for; null where it asks for something else. */
export function askedTable(task: TaskBrief): CsvFile | null {
  const [file, ...others] = task.submission.files;
  return file?.format === 'csv' && others.length === 0 ? file : null;
}

/** Where the rows to predict are, in the workspace. */
export function testPath(file: CsvFile): string {
  return file.id.from.startsWith('data/') ? file.id.from : `data/${file.id.from}`;
}

/** Infers the contract of a missing model from the task's brief and from what the data folder holds. */
export function inferContract(task: TaskBrief, printed: string): TableContract | { problem: string } {
  const file = askedTable(task);
  if (file === null) return { problem: 'the submission is not one table' };
  const look = readLook(printed);
  if (look === null) return { problem: 'the data folder could not be looked at' };
  const lacking = ['numpy', 'pandas', 'sklearn'].filter((name) => !look.packages.includes(name));
  if (lacking.length > 0) return { problem: `${lacking.join(', ')} cannot be imported` };
  const [given] = look.given;
  if (given !== undefined)
    return { problem: `the rows to predict hold ${given} themselves, which is nothing to learn from` };
  const test = look.tables.find(({ path }) => path === testPath(file));
  if (test === undefined || !test.has_id) return { problem: `${testPath(file)} does not list the ids` };
  const found = findTargets(file, look, test.path);
  if (found === null)
    return {
      problem: 'no table of the data folder has the asked columns beside those of the rows to predict',
    };
  return contractOf(task, file, test, found);
}

function readLook(printed: string): Look | null {
  const line = printed.split('\n').find((each) => each.startsWith('TABLES '));
  if (line === undefined) return null;
  try {
    return Look.safeParse(JSON.parse(line.slice('TABLES '.length))).data ?? null;
  } catch {
    return null;
  }
}

interface Found {
  table: Table;
  targets: Table['more'];
  /** The submission has a column for each value of the only target. */
  byClass: boolean;
}

/** The largest table that holds what is asked, as columns of the same names or as classes named like the columns. */
function findTargets(file: CsvFile, look: Look, test: string): Found | null {
  const wanted = file.columns.map(({ name }) => name);
  const tables = look.tables
    .filter(({ path, shared }) => path !== test && shared > 0)
    .sort((left, right) => right.rows - left.rows);
  for (const table of tables) {
    const targets = table.more.filter(({ name }) => wanted.includes(name));
    if (targets.length === wanted.length) return { table, targets, byClass: false };
    const classed = table.more.filter(
      ({ values }) => values.length === wanted.length && values.every((value) => wanted.includes(value)),
    );
    if (wanted.length > 1 && classed.length === 1) return { table, targets: classed, byClass: true };
  }
  return null;
}

function contractOf(
  task: TaskBrief,
  file: CsvFile,
  test: Table,
  { table, targets, byClass }: Found,
): TableContract | { problem: string } {
  const usual = usualName(task.metric);
  const known = ofNumbers[usual] ?? ofClasses[usual] ?? null;
  const [first] = file.columns;
  const looksLikeClasses = byClass || first?.type === 'text' || targets.some(({ numeric }) => !numeric);
  const classifies = known === null ? looksLikeClasses : ofNumbers[usual] === undefined;
  const problem = classifies ? problemOfClasses(file, targets) : problemOfNumbers(targets);
  if (problem !== null) return { problem };
  const metric = known ?? (classifies ? 'accuracy' : 'mae');
  return {
    train: table.path,
    test: test.path,
    submission: file.path,
    id: file.id.column,
    // In the order of the submission, as its bounds are.
    targets: byClass ? targets.map(({ name }) => name) : file.columns.map(({ name }) => name),
    classColumns: byClass ? file.columns.map(({ name }) => name) : [],
    classifies,
    writesProbability:
      classifies && !byClass && first?.type === 'number' && (metric === 'auc' || metric === 'log loss'),
    roundsToWhole: !classifies && file.columns.every(({ type }) => type === 'integer'),
    bounds: file.columns.map(({ min = -1e300, max = 1e300 }) => [min, max]),
    metric,
    isMeasured: known !== null,
    rows: table.rows,
    texts: table.texts,
    shared: table.shared,
  };
}

function problemOfNumbers(targets: Table['more']): string | null {
  const odd = targets.find(({ numeric }) => !numeric);
  return odd === undefined ? null : `${odd.name} should be a number and is none`;
}

function problemOfClasses(file: CsvFile, targets: Table['more']): string | null {
  const [target, ...others] = targets;
  if (target === undefined || others.length > 0) return 'more than one column of classes is asked for';
  if (target.distinct < 2 || target.distinct > mostClasses)
    return `${target.name} has ${target.distinct} different values, which are no classes to tell apart`;
  const allowed = file.columns.find(({ name }) => name === target.name)?.values;
  const odd = target.values.find((value) => allowed !== undefined && !allowed.includes(value));
  return odd === undefined ? null : `${target.name} has the value ${odd}, which the submission may not have`;
}
