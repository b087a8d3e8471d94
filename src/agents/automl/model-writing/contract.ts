import type { TaskBrief } from '../../../schema/index.ts';
import { isPercentage, usualName } from '../../search/metric-names.ts';
import { maxEpochs } from '../most-epochs.ts';
import { type Answer, readDataSummary, type Table } from './data-summary.ts';
import { type CsvFile, classesOf, type Found, findSource, type Source } from './sources.ts';

/** What a model has to learn, from which data, and what it has to write. */
export interface Contract {
  source: Source;
  /** The table with the ids to predict. */
  test: string;
  submission: string;
  id: string;
  /** Columns of the training table; one for classes. */
  targets: string[];
  /** What the targets are called in the submission. */
  columns: string[];
  /** Columns of the submission with the probability of one class each, and that class; empty if there are none. */
  classColumns: [column: string, ofClass: string][];
  classifies: boolean;
  writesProbability: boolean;
  roundsToWhole: boolean;
  /** Least and greatest value of each target. */
  bounds: [number, number][];
  /** The name in `python/automl/scores.py`. */
  metric: string;
  /** `metric` is the task's own metric, so the script prints the task's measure. */
  isMeasured: boolean;
  /** The task states the metric in percent; elsewhere it is a share. */
  inPercent: boolean;
  rows: number;
  /** The number of different values of the target. */
  classes: number;
  /** How often a model may see a row at most; null if the task sets no limit. */
  epochs: number | null;
  packages: string[];
}

const ofNumbers: Readonly<Record<string, string>> = {
  mae: 'mae',
  mse: 'mse',
  rmse: 'rmse',
  mcrmse: 'rmse',
  rmsle: 'rmsle',
  mape: 'mape',
  smape: 'smape',
  'smape 1': 'smape of one more',
  wape: 'wape',
  r2: 'r2',
  msle: 'msle',
  'median absolute error': 'median absolute error',
  pearson: 'pearson',
  spearman: 'spearman',
};
const ofClasses: Readonly<Record<string, string>> = {
  accuracy: 'accuracy',
  'balanced accuracy': 'balanced accuracy',
  auc: 'auc',
  f1: 'f1',
  'macro f1': 'macro f1',
  'weighted f1': 'weighted f1',
  'micro f1': 'accuracy',
  'error rate': 'error rate',
  'log loss': 'log loss',
  brier: 'brier',
  'average precision': 'average precision',
  gini: 'gini',
  kappa: 'kappa',
  'quadratic weighted kappa': 'quadratic kappa',
  'matthews correlation': 'mcc',
};
/** Metrics of how certain a model is: if there is one column to predict, it contains a probability. */
const ofProbabilities = ['auc', 'gini', 'average precision', 'log loss', 'brier'];
/** Metrics that are shares, not in the unit of the target. */
const areShares = [
  ...['mape', 'smape', 'smape of one more', 'wape', 'r2'],
  ...['accuracy', 'balanced accuracy', 'error rate', 'f1', 'macro f1', 'weighted f1', 'auc'],
];
/** Targets with more different values than this are not classes. */
const maxClasses = 100;

/** The only table that the task asks for; null if it asks for something else. */
export function askedTable(task: TaskBrief): CsvFile | null {
  const [file, ...others] = task.submission.files;
  return file?.format === 'csv' && others.length === 0 ? file : null;
}

/** The path of the ids to predict, in the workspace. */
export function testPath(file: CsvFile): string {
  return file.id.from.startsWith('data/') ? file.id.from : `data/${file.id.from}`;
}

/** Infers the contract of a model from the task's brief and from the data folder. */
export function inferContract(task: TaskBrief, printed: string): Contract | { problem: string } {
  const file = askedTable(task);
  if (file === null) return { problem: 'the submission is not one table' };
  const summary = readDataSummary(printed);
  if (summary === null) return { problem: 'the data folder could not be looked at' };
  if (!summary.packages.includes('numpy')) return { problem: 'numpy cannot be imported' };
  const [given] = summary.given;
  if (given !== undefined)
    return { problem: `the rows to predict hold ${given} themselves, which is nothing to learn from` };
  const rowsToPredict = summary.rows_to_predict ?? testPath(file);
  const test = summary.tables.find(({ path }) => path === rowsToPredict);
  if (test === undefined || !test.has_id) return { problem: `${testPath(file)} does not list the ids` };
  const found = findSource(file, summary, test);
  if (found === null)
    return {
      problem: 'nothing in the data folder has the asked columns beside what the rows to predict have',
    };
  const needsPictures = found.source.kind === 'files' && found.source.arePictures;
  if (needsPictures && !summary.packages.includes('PIL')) return { problem: 'PIL cannot be imported' };
  if (!hasModels(summary.packages) && needsWords(found.source))
    return { problem: 'scikit-learn cannot be imported, and all there is to learn from are words' };
  return contractOf(task, file, test, found, summary.packages);
}

/** Whether the models of scikit-learn can be used; there are plain ones otherwise. */
export function hasModels(packages: readonly string[]): boolean {
  return packages.includes('sklearn') && packages.includes('scipy');
}

function needsWords(source: Source): boolean {
  if (source.kind === 'table') return source.columns.number + source.columns.name === 0;
  return source.kind === 'files' && !source.arePictures;
}

function contractOf(
  task: TaskBrief,
  file: CsvFile,
  test: Table,
  { source, rows, answers, byClass }: Found,
  packages: string[],
): Contract | { problem: string } {
  const usual = usualName(task.metric);
  const known = ofNumbers[usual] ?? ofClasses[usual] ?? null;
  const [first] = file.columns;
  const looksLikeClasses = byClass || first?.type === 'text' || answers.some(({ numeric }) => !numeric);
  const classifies = known === null ? looksLikeClasses : ofNumbers[usual] === undefined;
  const problem = classifies ? problemOfClasses(file, answers) : problemOfNumbers(answers);
  if (problem !== null) return { problem };
  const metric = known ?? (classifies ? 'accuracy' : 'mae');
  return {
    source,
    test: test.path,
    submission: file.path,
    id: file.id.column,
    // In the order of the submission, like its bounds.
    targets: targetsOf(file, answers, byClass),
    columns: file.columns.map(({ name }) => name),
    classColumns: byClass ? columnsByClass(file, answers) : [],
    classifies,
    writesProbability: classifies && !byClass && first?.type === 'number' && ofProbabilities.includes(metric),
    roundsToWhole: !classifies && file.columns.every(({ type }) => type === 'integer'),
    bounds: file.columns.map(({ min = -1e300, max = 1e300 }) => [min, max]),
    metric,
    isMeasured: known !== null,
    inPercent: known !== null && isPercentage(task.metric) && areShares.includes(known),
    rows,
    classes: answers[0]?.distinct ?? 0,
    epochs: maxEpochs(task.problem),
    packages,
  };
}

function targetsOf(file: CsvFile, answers: readonly Answer[], byClass: boolean): string[] {
  const columns = file.columns.map(({ name }) => name);
  const haveOtherNames = answers.some(({ name }) => !columns.includes(name));
  return byClass || haveOtherNames ? answers.map(({ name }) => name) : columns;
}

function columnsByClass({ columns }: CsvFile, [answer]: readonly Answer[]): [string, string][] {
  const names = columns.map(({ name }) => name);
  const classes = classesOf(names, answer?.values ?? []) ?? names;
  return names.map((name, place) => [name, classes[place] ?? name]);
}

function problemOfNumbers(answers: readonly Answer[]): string | null {
  const odd = answers.find(({ numeric }) => !numeric);
  return odd === undefined ? null : `${odd.name} should be a number and is none`;
}

function problemOfClasses(file: CsvFile, answers: readonly Answer[]): string | null {
  const [target, ...others] = answers;
  if (target === undefined || others.length > 0) return 'more than one column of classes is asked for';
  if (target.distinct < 2 || target.distinct > maxClasses)
    return `${target.name} has ${target.distinct} different values, which are no classes to tell apart`;
  const allowed = file.columns.find(({ name }) => name === target.name)?.values;
  const odd = target.values.find((value) => allowed !== undefined && !allowed.includes(value));
  return odd === undefined ? null : `${target.name} has the value ${odd}, which the submission may not have`;
}
