import { describe, expect, it } from 'vitest';
import type { Metric } from '../../schema/index.ts';
import { isPercentage, isTimeLike, usualName } from './metric-names.ts';

function metric(name: string, direction: Metric['direction'] = 'minimize', unit = '1'): Metric {
  return { name, unit, direction };
}

describe('the usual name of a metric', () => {
  it.each([
    ['accuracy score', 'accuracy'],
    ['classification accuracy', 'accuracy'],
    ['Matthews correlation coefficient (MCC)', 'matthews correlation'],
    ['matthews_corrcoef', 'matthews correlation'],
    ['ROC-AUC score', 'auc'],
    ['area under the ROC curve', 'auc'],
    ['macro-averaged F1 score', 'macro f1'],
    ['F1 score (macro)', 'macro f1'],
    ['F1 score', 'f1'],
    ['balanced accuracy score', 'balanced accuracy'],
    ['macro recall', 'balanced accuracy'],
    ['balanced error rate', 'balanced error'],
    ["Cohen's kappa", 'kappa'],
    ["quadratic-weighted Cohen's kappa", 'quadratic weighted kappa'],
    ['weighted kappa (quadratic)', 'quadratic weighted kappa'],
    ['logloss', 'log loss'],
    ['multi-class log loss', 'log loss'],
    ['multiclass logarithmic loss', 'log loss'],
    ['binary cross-entropy', 'log loss'],
    ['BCE', 'log loss'],
    ["Spearman's rank correlation", 'spearman'],
    ["Pearson's r", 'pearson'],
    ['MAE (days)', 'mae'],
    ['mean absolute error in kWh', 'mae'],
    ['mean RMSE', 'rmse'],
    ['average RMSE over targets', 'rmse'],
    ['MAE of the daily load', 'mae'],
    ['Hamming loss', 'error rate'],
    ['RMSPE', 'rmspe'],
    ['mean average precision', 'map'],
    ['average precision', 'average precision'],
    // These are other metrics.
    ['RMSE of log price', 'rmse of log price'],
    ['RMSE (log scale)', 'rmse log scale'],
    ['MAE in the worst region', 'mae in the worst region'],
    ['weighted MAE', 'weighted mae'],
    ['normalised RMSE', 'normalised rmse'],
    ['top-3 accuracy', 'top 3 accuracy'],
    ['mean loss', 'mean loss'],
    ['precision', 'precision'],
  ])('of %j is %j', (name, usual) => {
    expect(usualName(metric(name))).toBe(usual);
  });
});

describe('a metric', () => {
  it.each<[string, string, boolean, Metric['direction']]>([
    ['MAE', 'seconds', false, 'minimize'],
    ['RMSE', 'ms', false, 'minimize'],
    ['mean absolute error of the run time', 's', false, 'minimize'],
    ['rainfall error', 'mm per hour', false, 'minimize'],
    ['time of one call', 's', true, 'minimize'],
    ['CPU time', 's', true, 'minimize'],
    ['time per token', 'seconds', true, 'minimize'],
    ['runtime', '1', true, 'minimize'],
    ['latency', 'µs', true, 'minimize'],
    ['cost of one call', 'ms per row', true, 'minimize'],
    ['length', 'm', false, 'minimize'],
    ['throughput', 'rows per second', true, 'maximize'],
    ['speed-up', 'times', true, 'maximize'],
    ['return', 's', false, 'maximize'],
  ])('%s, in %s, is the speed of a script: %j', (name, unit, expected, direction) => {
    expect(isTimeLike(metric(name, direction, unit))).toBe(expected);
  });

  it.each([
    ['mean absolute percentage error', 'fraction', false],
    ['MAPE', 'per cent', true],
    ['pinball loss', '% of the mean', true],
    ['mean absolute percentage error', '–', true],
  ])('%s, in %s, is stated in percent: %j', (name, unit, expected) => {
    expect(isPercentage(metric(name, 'minimize', unit))).toBe(expected);
  });
});
