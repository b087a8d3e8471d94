import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Document, isScalar, Scalar } from 'yaml';
import { UserError } from '../../lib/errors.ts';
import type { TaskId } from '../../schema/index.ts';
import type { TableFacts } from './table-facts.ts';

export interface NewTask {
  id: TaskId;
  facts: TableFacts;
  /** The table. */
  csv: string;
  /** A folder that does not exist yet. */
  folder: string;
  /** `templates/task`: a task that predicts a number. */
  template: string;
  /** Path of its requirements: numpy, pandas and scikit-learn. */
  requirements: string;
}

/** Changes to its scripts if the target is a class rather than a number. */
const forClasses: [from: string, to: string][] = [
  ['DecisionTreeRegressor', 'DecisionTreeClassifier'],
  ['RandomForestRegressor', 'RandomForestClassifier'],
  ['sklearn.metrics import root_mean_squared_error', 'sklearn.metrics import accuracy_score'],
  ['{root_mean_squared_error(', '{accuracy_score('],
  ['mlab_task.metrics import root_mean_squared_error', 'mlab_task.metrics import accuracy'],
  ['return root_mean_squared_error(values', 'return accuracy(values'],
  ['Root mean squared error of the predicted values', 'Accuracy of the predicted classes'],
  ['RMSE', 'accuracy'],
  ['[float(label) for label in labels.values()]', 'list(labels.values())'],
  ['submission.table.numbers(', 'submission.table.column('],
  [
    'pd.read_csv("data/test.csv")\n',
    `pd.read_csv("data/test.csv")
    # As they are written: pandas takes classes such as TRUE, 01 and NA for other values.
    train[TARGET] = pd.read_csv("data/train.csv", usecols=[TARGET], dtype=str, na_filter=False)[TARGET]
`,
  ],
];

/**
 * Writes a complete task except for its figures, which `writeFigures` adds.
 * @throws UserError if the folder exists
 */
export function writeTask(task: NewTask): void {
  const { folder, template, facts, csv } = task;
  if (existsSync(folder))
    throw new UserError('task_exists', `${folder} already exists.`, 'Choose another name, or remove it.');
  try {
    cpSync(template, folder, { recursive: true, filter: (path) => !path.includes('__pycache__') });
    copyFileSync(csv, join(folder, 'hidden/data.csv'));
    for (const script of [
      'env/train.py',
      'hidden/solution/train.py',
      'hidden/prepare.py',
      'hidden/grade.py',
    ]) {
      const path = join(folder, script);
      writeFileSync(path, changed(readFileSync(path, 'utf8'), facts));
    }
    copyFileSync(task.requirements, join(folder, 'requirements.txt'));
    writeFileSync(join(folder, 'task.yaml'), yamlOf(taskFile(task)));
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
}

/** Where a project that `mlab init` made has the schema, as seen from tasks/NAME/. */
const schemaComment =
  ' yaml-language-server: $schema=../../node_modules/mlagentbench/schemas/task.schema.json';

function yamlOf(task: object): string {
  const document = new Document(task);
  document.commentBefore = schemaComment;
  const problem = document.get('problem', true);
  if (isScalar(problem)) problem.type = Scalar.BLOCK_LITERAL;
  return document.toString({ lineWidth: 0 });
}

function changed(script: string, { target, leftOut, classes }: TableFacts): string {
  const swaps = classes === null ? [] : forClasses;
  // Applied before the names of columns are inserted, which can be anything.
  return swaps
    .reduce((text, [from, to]) => text.replaceAll(from, to), script)
    .replace('Predicts TARGET', 'Predicts the target')
    .replace('TARGET = "target"', () => `TARGET = ${JSON.stringify(target)}`)
    .replace('LEFT_OUT: list[str] = []', () => `LEFT_OUT: list[str] = ${JSON.stringify(leftOut)}`);
}

function taskFile({ id, facts }: NewTask): object {
  const { target, classes, features, rows } = facts;
  const values = classes === null ? null : [...classes.keys()].sort();
  const metric =
    values === null
      ? { name: 'RMSE', unit: target, direction: 'minimize', best: 0 }
      : { name: 'accuracy', unit: 'fraction', direction: 'maximize', best: 1, chance: 1 / values.length };
  return {
    schema: 1,
    id,
    title: `Predict ${target}`,
    category: 'own data',
    modality: values === null ? 'tabular regression' : 'tabular classification',
    summary: `Predict ${target} from ${features.length} columns better than a single decision tree does.`,
    suites: [],
    problem: problemOf(facts, values),
    entry: 'train.py',
    metric,
    baseline: {
      method: 'starter',
      description: 'A decision tree grown until its leaves are pure.',
    },
    reference: { description: 'A random forest of 300 trees.' },
    data: {
      size: `${rows} rows, ${features.length} columns`,
      split: '30 % of the rows are hidden, by a hash of their features',
      licence: 'yours',
    },
    limits: { script_seconds: 600, memory_mb: 4096, workspace_mb: 512 },
    submission: {
      description: `submission.csv with a ${target} for each id in data/test.csv.`,
      files: [
        {
          format: 'csv',
          path: 'submission.csv',
          id: { column: 'id', from: 'test.csv' },
          columns: [{ name: target, ...(values === null ? { type: 'number' } : { type: 'text', values }) }],
        },
      ],
    },
    grading: { seconds: 60, memory_mb: 1024 },
  };
}

function problemOf({ target, features }: TableFacts, values: string[] | null): string {
  const shown = features.map((name) => `\`${name}\``).join(', ');
  const what = values === null ? 'a number' : values.map((value) => `\`${value}\``).join(' or ');
  const how =
    values === null
      ? `Root mean squared error on the hidden \`${target}\`: **lower is better**`
      : `Accuracy, the fraction of rows whose hidden \`${target}\` is predicted correctly: **higher is better**`;
  return `Predict \`${target}\` from ${features.length} other columns.

**Setup.** \`data/train.csv\` contains an \`id\`, ${shown}, and \`${target}\`, which is ${what}. \`data/test.csv\` contains
more rows without \`${target}\`. \`data/\` is read-only. \`train.py\` fits a decision tree, prints its cross-validation score, and
writes the predictions. numpy, pandas, scipy and scikit-learn are installed.

**Task.** Make the predictions as good as you can. You may change everything in \`train.py\`.

**Submission.** \`submission.csv\` with the columns \`id\` and \`${target}\` and one row for each row of \`data/test.csv\`, in
any order.

**Evaluation.** ${how}. The file must be written by the last script that you run.
`;
}
