import type { Metric } from '../../schema/index.ts';

/** Spellings that mean the same metric, in small letters. */
const synonyms: readonly (readonly string[])[] = [
  ['mae', 'mean absolute error'],
  ['mse', 'mean squared error'],
  ['rmse', 'root mean squared error', 'root mean square error'],
  ['rmsle', 'root mean squared logarithmic error', 'root mean squared log error'],
  ['mape', 'mean absolute percentage error'],
  ['smape', 'symmetric mean absolute percentage error'],
  ['mcrmse', 'mean columnwise root mean squared error'],
  ['accuracy', 'acc'],
  ['balanced accuracy', 'balanced acc'],
  ['auc', 'roc auc', 'auroc', 'auc roc', 'area under the curve'],
  ['f1', 'f1 score'],
  ['r2', 'r2 score', 'r squared', 'coefficient of determination'],
  ['log loss', 'cross entropy', 'negative log likelihood', 'nll'],
  ['perplexity', 'ppl'],
  ['dice', 'dice score', 'dice coefficient'],
  ['iou', 'jaccard', 'intersection over union'],
  ['map', 'mean average precision'],
  ['matthews correlation', 'matthews correlation coefficient', 'mcc'],
  ['seconds', 'time', 'run time', 'wall time', 'elapsed', 'elapsed time', 'duration', 'seconds per token'],
];

/** Every way the metric may be spelt in a print-out, the longest first. */
export function spellingsOf(metric: Metric): string[] {
  const name = plain(metric.name);
  // "MAP@20" may be printed without its 20.
  const short = /^[a-z]{3,}(?= \d+$)/.exec(name)?.[0] ?? '';
  const group = synonyms.find((spellings) => spellings.includes(name)) ?? [];
  const time = isTimeLike(metric) ? (synonyms.at(-1) ?? []) : [];
  const spellings = new Set([name, short, ...group, ...time].filter((spelling) => spelling !== ''));
  return [...spellings].sort((left, right) => right.length - left.length);
}

/** Whether the metric is a time that a script takes: what it prints of it is only its own measurement. */
export function isTimeLike(metric: Metric): boolean {
  return /\b(?:seconds?|milliseconds?|ms|run ?time|wall ?time|latency|elapsed)\b/i.test(
    `${metric.name} ${metric.unit}`,
  );
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/r(?:\^2|\*\*2|²)/g, 'r2')
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

/** The first of all spellings that mean the same metric: `mae` for "Mean absolute error". */
export function usualName(metric: Metric): string {
  const name = plain(metric.name);
  return synonyms.find((spellings) => spellings.includes(name))?.[0] ?? name;
}
