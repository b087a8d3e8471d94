import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Metric } from '../../schema/index.ts';
import { readMetric } from './metric-reader.ts';

const mae: Metric = { name: 'MAE', unit: 'units', direction: 'minimize' };
const accuracy: Metric = { name: 'accuracy', unit: 'fraction', direction: 'maximize' };
const averagePrecision: Metric = { name: 'average precision', unit: 'fraction', direction: 'maximize' };
const seconds: Metric = { name: 'seconds', unit: 'seconds', direction: 'minimize' };
const auc: Metric = { name: 'ROC AUC', unit: '1', direction: 'maximize' };
const oneCall: Metric = { name: 'time of one call', unit: 's', direction: 'minimize' };
const throughput: Metric = { name: 'throughput', unit: 'rows per second', direction: 'maximize' };
const pointers: Metric = { name: 'accuracy of pointers', unit: 'fraction', direction: 'maximize' };
const relativeError: Metric = { name: 'capped relative error', unit: 'fraction', direction: 'minimize' };

function value(output: string, metric: Metric): number | null {
  return readMetric(output, metric)?.value ?? null;
}

describe('the metric reader', () => {
  it.each<[string, number | null, Metric]>([
    ['validation MAE: 44.1', 44.1, mae],
    ['Validation mae = 44.1', 44.1, mae],
    ['\u001b[1mvalidation\u001b[0m MAE:\u001b[32m44.1\u001b[0m', 44.1, mae],
    ['val_mae=44.1', 44.1, mae],
    ['valid_mae: 44.10', 44.1, mae],
    ['valid-MAE 4.41e1', 44.1, mae],
    ['MAE (validation): 44.1', 44.1, mae],
    ['MAE: 44.1 (validation)', 44.1, mae],
    ['MAE = 44.1 (validation, n=400, 42% active)', 44.1, mae],
    ['MAE: 3.1 (train), 44.1 (validation), 60 rows', 44.1, mae],
    ['MAE on the validation set: 44.1', 44.1, mae],
    ['The mean absolute error on held-out rows is 44.1.', 44.1, mae],
    ['holdout n=980  mean abs error = 44.1 min', 44.1, mae],
    ['val avg. abs. err: 44.1', 44.1, mae],
    ['Mean Absolute Error: 20,613.25', 20613.25, mae],
    ['[valid] mae 44.1', 44.1, mae],
    ['CV MAE: 44.1 ± 1.2', 44.1, mae],
    ['CV MAE: 44.1 +/- 1.2', 44.1, mae],
    ['cross-validation MAE over 5 folds: 44.1', 44.1, mae],
    ['cross-validated MAE (5 folds): 44.1', 44.1, mae],
    ['MAE (n=88): 44.1', 44.1, mae],
    ['MAE 44.1 in 3.2 s', 44.1, mae],
    ['dev MAE\t44.1', 44.1, mae],
    ['| validation | MAE | 44.1 |', 44.1, mae],
    ['train MAE: 3.1, validation MAE: 44.1', 44.1, mae],
    ['validation MAE: 44.1, train MAE: 3.1', 44.1, mae],
    ['train_mae 3.1 valid_mae 44.1', 44.1, mae],
    ['MAE: train 3.1, valid 44.1', 44.1, mae],
    ['train: MAE 3.1 | valid: MAE 44.1', 44.1, mae],
    ["{'train_mae': 3.1, 'val_mae': 44.1}", 44.1, mae],
    ['{"val_mae": 44.1, "val_rmse": 60.2}', 44.1, mae],
    ["{'val_mae': np.float64(44.1)}", 44.1, mae],
    ['val_rmse: 60.2 - val_mae: 44.1', 44.1, mae],
    ['validation RMSE 60.2, MAE 44.1, R2 0.4', 44.1, mae],
    ['Validation MAE:\n44.1', 44.1, mae],
    ['Training:\n  MAE: 3.1\nValidation:\n  MAE: 44.1\n  RMSE: 60', 44.1, mae],
    ['Validation:\n  MAE: 44.1\nTraining:\n  MAE: 3.1', 44.1, mae],
    ['epoch 1 val MAE 60\nepoch 2 val MAE 44.1', 44.1, mae],
    ['validation MAE: 44.1\nMAE: 3', 44.1, mae],
    ['test MAE: 40\nvalidation MAE: 44.1\ntest MAE: 41', 44.1, mae],
    ['latest MAE: 44.1', 44.1, mae],
    ['validation    MAE   mean R2\nrepeat 1    40.2   0.75\nmean        44.1   0.777', 44.1, mae],
    ['split    n    MAE   R2\nfit  300  3.1  0.9\ndev   100  44.1  0.4', 44.1, mae],
    ['fold mae val_mae\n1 3.1 40.0\n2 3.2 44.1', 44.1, mae],
    ['| model | MAE | R2 |\n|---|---|---|\n| ridge | 44.1 | 0.3 |', 44.1, mae],
    ['fold  CV MAE  R2\nmean  44.1  0.3\nstd   0.2  0.1', 44.1, mae],
    ['epoch  train MAE  test MAE\n1   3.1   40', null, mae],
    ['epoch  loss\n1   3.1', null, mae],
    ['AP on holdout: 0.3584', 0.3584, averagePrecision],
    ['MAE: 44.1', 44.1, mae],
    ['validation MAE: -0.5', -0.5, mae],
    ['validation MAE: .5', 0.5, mae],
    ['test MAE: 44.1', null, mae],
    ['test_mae=44.1', null, mae],
    ['MAE on the test set: 44.1', null, mae],
    ['training MAE: 3.1', null, mae],
    ['validation RMSE: 60.2', 60.2, mae],
    ['validation R2: 0.4, loss 3', -0.4, { ...mae, name: 'pinball distance' }],
    ['{"accuracy": 0.91, "split": "val", "n": 300}', 0.91, accuracy],
    ['{"mae": 44.1, "split": "validation", "rows": 300, "seed": 0}', 44.1, mae],
    ['{"mae": 44.1, "split": "val", "n": 300}\n{"mae": 3.1, "split": "train", "n": 900}', 44.1, mae],
    ['mae=44.1 | split=valid | rows=300', 44.1, mae],
    ['MAE 44.1 on validation 2023-11-05', 44.1, mae],
    ['MAE 44.1 on the validation fold 4', 44.1, mae],
    ['validation ROC AUC: 0.90\nvalidation PR AUC: 0.40', 0.9, auc],
    ['val auc 0.90, val pr_auc 0.40', 0.9, auc],
    ['validation accuracy: 0.90\nvalidation balanced accuracy: 0.71', 0.9, accuracy],
    ['validation accuracy: 0.90\nvalidation top-3 accuracy: 0.98', 0.9, accuracy],
    ['validation F1: 0.60\nvalidation macro F1: 0.70', 0.6, { ...accuracy, name: 'F1' }],
    ['val f1 0.5', 0.5, { name: 'F1 score (macro)', unit: '1', direction: 'maximize' }],
    ['validation macro F1: 0.70', 0.7, { ...accuracy, name: 'F1' }],
    ['validation RMSE: 3.2\nvalidation log RMSE: 0.31', 3.2, { ...mae, name: 'RMSE' }],
    ['validation R2: 0.7\nvalidation adjusted R2: 0.65', 0.7, { ...accuracy, name: 'R2' }],
    ['val kappa 0.5\nval weighted kappa 0.6', 0.5, { ...accuracy, name: "Cohen's kappa" }],
    ['val average precision 0.5\nval mean average precision 0.6', 0.5, averagePrecision],
    ['validation MAE: 44.1\nvalidation MAE (log scale): 0.32', 44.1, mae],
    ['validation MAE: 44.1\ndummy validation MAE: 51', 44.1, mae],
    ['validation MAE of the model: 44.1\nvalidation MAE of predicting the mean: 51', 44.1, mae],
    ['naive validation MAE: 51', 51, mae],
    ['naive Bayes: validation MAE 51\nforest: validation MAE 44.1', 44.1, mae],
    ['validation MAE: 44.1\n  validation MAE by region: north 2.1, south 54', 44.1, mae],
    ['out-of-sample MAE: 44.1\nin-sample MAE: 2.0', 44.1, mae],
    ['cv neg_mean_absolute_error: -44.1 +/- 0.1', 44.1, mae],
    ['validation neg MAE = -44.1', 44.1, mae],
    ['fold  MAE  MAE per row\n1  40  2\nmean  44.1  3', 44.1, mae],
    ['validation accuracy for k=5: 0.91', 0.91, accuracy],
    ['validation accuracy with C=10 is 0.91', 0.91, accuracy],
    ['validation accuracy at threshold 0.35: 0.91', 0.91, accuracy],
    ['validation accuracy @ epoch 3 = 0.91', 0.91, accuracy],
    ['validation MAE@0.9: 44.1', 44.1, mae],
    ['MAE for validation 44.1: 300 rows', 44.1, mae],
    ['train/val MAE: 2.0/44.1', 44.1, mae],
    ['MAE train/valid: 2.0 / 44.1', 44.1, mae],
    ['(train, valid) mae = (2.0, 44.1)', 44.1, mae],
    ['(valid, train) mae = (44.1, 2.0)', 44.1, mae],
    ['Epoch 3/10: train/val MAE 2.0/44.1', 44.1, mae],
    ['validation MAE improved from 51 to 44.1', 44.1, mae],
    ['val MAE 51.0 -> 44.1', 44.1, mae],
    ['[train.py:55] holdout mae 44.1', 44.1, mae],
    ['mae:\n    val: 44.1\n    train: 2.0\nrows: 5', 44.1, mae],
    ['MAE\n  train: 2.0\n  valid: 44.1\n  rows: 300', 44.1, mae],
    ['"mae": {\n  "val": 44.1,\n  "train": 2\n}', 44.1, mae],
    ['epoch,train_mae,val_mae\n1,4.0,50\n2,3.0,44.1', 44.1, mae],
    ['RMSE: 60.2', null, mae],
    ['took 0.429s for 800 readings', 0.429, seconds],
    ['validation accuracy: 0.9', null, seconds],
    ['maelstrom: 3', null, mae],
    ['no numbers here, MAE', null, mae],
    ['', null, mae],
    ['Validation accuracy: 95.3%', 0.953, accuracy],
    ['95.3% validation accuracy', 0.953, accuracy],
    ['validation accuracy: 95.3 per cent', 0.953, accuracy],
    ['Val. Accuracy 26.13', 0.2613, accuracy],
    ['accuracy (validation, n=30) = 0.93', 0.93, accuracy],
    ['accuracy [valid, 30 rows]: 93.3%', 0.933, accuracy],
    ['accuracy (valid, 400 images) .. 0.328', 0.328, accuracy],
    ['validation accuracy ......... 0.328', 0.328, accuracy],
    ['validation accuracy: 26.7%', 26.7, { ...accuracy, unit: '%' }],
    ['validation R2: 61%', 0.61, { name: 'R2', unit: '1', direction: 'maximize' }],
    ['validation MAPE: 12%', 12, { name: 'MAPE', unit: 'per cent', direction: 'minimize' }],
    ['validation MAPE: 12%', 0.12, { name: 'MAPE', unit: 'fraction', direction: 'minimize' }],
    ['val_acc: 0.953', 0.953, accuracy],
    ['valid acc 0.953 (343/360)', 0.953, accuracy],
    ['accuracy: 0.953 (343/360)', 0.953, accuracy],
    ['accuracy on validation (360 images): 0.953', 0.953, accuracy],
    ['Epoch 3/10 - loss: 0.31 - acc: 0.90 - val_loss: 0.42 - val_acc: 0.953', 0.953, accuracy],
    ['train loss 0.3 acc 0.99 val loss 0.4 acc 0.953', 0.953, accuracy],
    ['[epoch 3] train loss 0.3, val loss 0.4, val acc 0.953, lr 0.001', 0.953, accuracy],
    ['Val Accuracy = 0.953 | Val Loss = 0.2', 0.953, accuracy],
    ['step 100: accuracy=0.953 loss=0.2', 0.953, accuracy],
    ['mean CV accuracy 0.953 (std 0.01)', 0.953, accuracy],
    ['2024-01-05 10:11:12 INFO validation accuracy 0.953', 0.953, accuracy],
    ['Validation R^2: 0.61', 0.61, { name: 'R2', unit: '1', direction: 'maximize' }],
    ['val r2_score 0.61', 0.61, { name: 'R²', unit: '1', direction: 'maximize' }],
    ['valid f1: 0.7', 0.7, { name: 'F1', unit: '1', direction: 'maximize' }],
    ['validation ROC AUC: 0.7', 0.7, { name: 'AUC', unit: '1', direction: 'maximize' }],
    ['val MAP@20: 0.3', 0.3, { name: 'MAP@20', unit: '1', direction: 'maximize' }],
    ['val MAP: 0.3', 0.3, { name: 'MAP@20', unit: '1', direction: 'maximize' }],
    ['validation SMAPE+1: 60.5', 60.5, { name: 'SMAPE+1', unit: 'per cent', direction: 'minimize' }],
    ['dev log-loss 0.31', 0.31, { name: 'log loss', unit: 'nats', direction: 'minimize' }],
    ['valid ppl 31.2', 31.2, { name: 'perplexity', unit: '1', direction: 'minimize' }],
    ['took 3.21 s', 3.21, seconds],
    ['took 2193.1 ms', 2.1931, seconds],
    ['took 12 µs per row', 0.000012, seconds],
    ['done in 310milliseconds', 0.31, seconds],
    ['done after 1.5 minutes', 90, seconds],
    ['took 3.21 s', 3210, { ...seconds, unit: 'ms' }],
    ['took 3.21 ms', 3.21, { ...seconds, unit: 'milliseconds' }],
    ['forward pass: 3.21 seconds', 3.21, seconds],
    ['Time: 3.21', 3.21, seconds],
    ['run time: 3.21 s', 3.21, seconds],
    ['median of 5 calls: 312.1 ms (min 300.2 ms, max 330 ms)\nwrote out.csv in 0.2 s', 0.3121, oneCall],
    ['(min 300.2 ms) 312.1 ms per call', 0.3121, oneCall],
    ['warm-up 2.00 s\nbest 3.1 s\nwrote out.csv in 0.2 s', 3.1, seconds],
    ['mean latency: 0.0121 s', 12.1, { name: 'latency', unit: 'ms', direction: 'minimize' }],
    ['processed 800 rows in 3.2 s: 250.0 rows/s', 250, throughput],
    ['throughput: 250.0 rows/s in 3.2 s', 250, throughput],
    ['validation MAE: 41.2 s (trained in 0.5 s)', 41.2, { ...mae, unit: 'seconds' }],
    ['done', null, seconds],
    ['validation accuracy: 0.31', 0.31, pointers],
    ['step 50: loss 4.88, validation accuracy 0.30\nvalidation accuracy: 0.31', 0.31, pointers],
    ['accuracy: 0.31', null, pointers],
    ['training accuracy: 0.9', null, pointers],
    ['power: 0.4898 over 8 laws\nvalidation error: 0.6301', 0.6301, relativeError],
    ['validation relative error: 0.63, validation error: 2', 0.63, relativeError],
    ['validation loss: 0.63', 0.63, relativeError],
    ['validation score: 0.63', 0.63, pointers],
    ['validation score: 0.63', null, relativeError],
    ['validation macro F1: 0.83', 0.83, { name: 'macro F1', unit: 'fraction', direction: 'maximize' }],
    ['val_f1_macro=0.83', 0.83, { name: 'macro F1', unit: 'fraction', direction: 'maximize' }],
    ['val F1: 0.83', 0.83, { name: 'macro F1', unit: 'fraction', direction: 'maximize' }],
    ['time: 3.21s', 3.21, seconds],
    ['Total time: 3.21sec, 12 calls', 3.21, seconds],
    ['val PSNR 27.1dB', 27.1, { name: 'PSNR', unit: 'dB', direction: 'maximize' }],
    ['validation MAE: 44.1km', 44.1, mae],
    ['version 1.2.3, MAE 44.1', 44.1, mae],
    ['dev WER 0.31', 0.31, { name: 'word error rate', unit: 'fraction', direction: 'minimize' }],
    ['valid: 2.31 bpc', 2.31, { name: 'bits per character', unit: 'bits', direction: 'minimize' }],
    ['MRR@10 valid = 0.41', 0.41, { name: 'mean reciprocal rank', unit: '1', direction: 'maximize' }],
    ['val NMI 0.7', 0.7, { name: 'normalised mutual information', unit: '1', direction: 'maximize' }],
    ['95 % CI: 0.1', null, { name: 'concordance index', unit: '1', direction: 'maximize' }],
    ['c-index 0.71', 0.71, { name: 'concordance index', unit: '1', direction: 'maximize' }],
    [
      'check: pinball@0.9 3.06, kept 89.6 % of promises',
      3.06,
      { name: 'pinball loss', unit: 'days', direction: 'minimize' },
    ],
    [
      'cost per job (pinball 0.8) -> 34.723',
      34.723,
      { name: 'pinball loss', unit: 'minutes', direction: 'minimize' },
    ],
    [
      'mean recall (hold-out): 33.1%',
      0.331,
      { name: 'balanced accuracy', unit: 'fraction', direction: 'maximize' },
    ],
    [
      'cross-validated rho: 0.329 (sd 0.041)',
      0.329,
      { name: 'Spearman correlation', unit: '1', direction: 'maximize' },
    ],
    [
      'speed: 1158 trips/s (450 trips)',
      1158,
      { name: 'throughput', unit: 'trips per second', direction: 'maximize' },
    ],
    ['throughput 12 of 40 files/s', 12, { name: 'throughput', unit: 'files/s', direction: 'maximize' }],
    ['validation pinball: 0.31', 0.31, { name: 'pinball loss', unit: '1', direction: 'minimize' }],
    ['val top5: 0.71', 0.71, { name: 'top-5 accuracy', unit: 'fraction', direction: 'maximize' }],
    ['matthews_corrcoef: 0.5', 0.5, { name: 'MCC', unit: '1', direction: 'maximize' }],
    ["val Cohen's kappa: 0.5", 0.5, { name: "Cohen's kappa", unit: '1', direction: 'maximize' }],
    ['validation area under ROC curve: 0.8', 0.8, { name: 'ROC AUC', unit: '1', direction: 'maximize' }],
    ['val log loss 0.5', 0.5, { name: 'multi-class log loss', unit: 'nats', direction: 'minimize' }],
    ['MAE: 3.2', 3.2, { name: 'MAE (days)', unit: 'days', direction: 'minimize' }],
    ['val QWK 0.7', 0.7, { name: 'quadratic weighted kappa', unit: '1', direction: 'maximize' }],
  ])('reads %j as %j', (output, expected, metric) => {
    expect(value(output, metric)).toBe(expected);
    expect(value(`loading data\n${output}\nsaved submission.csv\n[exit code 0, 3.2 s]`, metric)).toBe(
      expected,
    );
    expect(value(output.replaceAll('\n', '\r\n'), metric)).toBe(expected);
  });

  it('reads means over classes from the rows of a table with a row for each class', () => {
    const report = [
      '              precision    recall  f1-score   support',
      '',
      '         bad       0.75      0.60      0.67        10',
      '        good       0.81      0.90      0.85        20',
      '',
      '    accuracy                           0.80        30',
      '   macro avg       0.78      0.75      0.76        30',
      'weighted avg       0.79      0.80      0.79        30',
    ].join('\n');
    const of = (name: string): Metric => ({ name, unit: 'fraction', direction: 'maximize' });
    expect(value(report, of('macro F1'))).toBe(0.76);
    expect(value(report, of('weighted F1'))).toBe(0.79);
    expect(value(report, of('balanced accuracy'))).toBe(0.75);
    expect(value(report, of('accuracy'))).toBe(0.8);
    const own =
      'place          rows   prec.  recall     F1\nsea  300  31.0%  29.0%  30.0%\nmacro average  575  32.7%  31.6%  31.4%';
    expect(value(own, of('macro F1'))).toBe(0.314);
  });

  it('says whether a value was measured on validation data', () => {
    expect(readMetric('MAE: 4', mae)?.validation).toBe(false);
    expect(readMetric('val MAE: 4', mae)?.validation).toBe(true);
  });

  it('reads a value that is not a number as not finite, so that no older value is used', () => {
    expect(value('val MAE: 3\nval MAE: nan', mae)).toBeNaN();
    expect(value('val MAE: inf', mae)).toBe(Number.POSITIVE_INFINITY);
  });

  it('reads a ranking metric at the length of its lists from a table with a row for each length', () => {
    const ndcg: Metric = { name: 'NDCG@10', unit: 'fraction', direction: 'maximize', best: 1 };
    const output = `40 loans before, 12 after
|  k | precision | recall |   NDCG |
|---:|----------:|-------:|-------:|
|  5 |    0.1290 | 0.1988 | 0.2052 |
| 10 |    0.0990 | 0.2975 | 0.2381 |
| 20 |    0.0801 | 0.4100 | 0.2710 |`;
    expect(readMetric(output, ndcg)).toMatchObject({ value: 0.2381, line: 'NDCG: 0.2381' });
    expect(value('NDCG@5: 0.3\nNDCG@10: 0.4\nNDCG@20: 0.5', ndcg)).toBe(0.4);
    expect(value('k  recall\n10  0.5', ndcg)).toBeNull();
  });

  it('says whether a value is of the metric itself, of a part of its name, or of another metric', () => {
    const macro: Metric = { name: 'macro-averaged F1 score', unit: '1', direction: 'maximize' };
    expect(readMetric('val macro F1: 0.5', macro)).toMatchObject({ short: false, other: false });
    expect(readMetric('val F1: 0.5', macro)).toMatchObject({ short: true, other: false });
    expect(readMetric('val balanced accuracy: 0.5', accuracy)).toMatchObject({ short: true, other: false });
    expect(readMetric('val AUC: 0.5', macro)).toMatchObject({ other: true });
  });

  it('reads a metric by its own word, and by an ordinary one only on validation data', () => {
    const winkler: Metric = { name: 'Winkler loss', unit: '% of the mean', direction: 'minimize' };
    const relative: Metric = { name: 'relative error', unit: 'fraction', direction: 'minimize' };
    const output = `Backtest 2021-11-01 to 2022-04-30 (% of the mean)
   q10   winkler   4.100   share below 12.1%
   all   winkler   8.013
wrote forecast.csv, 2534 rows`;
    expect(readMetric(output, winkler)).toMatchObject({ value: 8.013, short: true });
    expect(value('relative: 3', relative)).toBeNull();
  });

  it('reads F scores that weigh recall otherwise than F1', () => {
    const f2: Metric = { name: 'F2', unit: 'fraction', direction: 'maximize' };
    for (const line of [
      'val F2 score: 0.8',
      'validation fbeta = 0.8',
      'The F2 score on 7 validation rows was 0.8.',
    ])
      expect(readMetric(line, f2)).toMatchObject({ value: 0.8, short: false, other: false });
    const half: Metric = { name: 'macro F0.5', unit: 'fraction', direction: 'maximize' };
    expect(readMetric('val macro F0.5: 0.7', half)).toMatchObject({ value: 0.7, short: false });
    expect(readMetric('val F1: 0.8', f2)).toMatchObject({ other: true });
  });

  it('is not slowed down by hostile output', () => {
    for (const piece of [' ', '(', '=', 'MAE ', '1,111', '[exit code', 'a:', '((MAE ']) {
      expect(value(`${piece.repeat(100_000)}\nval MAE: 3\n${piece.repeat(400)}x`, mae)).not.toBeUndefined();
    }
  });

  it('is not slowed down by long numbers and lines that nearly are headings', () => {
    const lines = [`${'0'.repeat(1_990)}K`, `${'#'.repeat(990)}${'\t'.repeat(990)}\u2028x`];
    const output = `${lines.join('\n')}\n`.repeat(5);
    for (const metric of [mae, seconds, averagePrecision]) expect(value(output, metric)).toBeNull();
    expect(value(`${output}Validation MAE: 44.\naverage precision 0.5`, mae)).toBe(44);
  });

  it('never throws, and reads only numbers that were printed', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (output) => {
        const reading = readMetric(output, mae);
        if (reading !== null && Number.isFinite(reading.value)) expect(output).toMatch(/\d/);
      }),
    );
  });

  it('reads any finite number that Python prints after the name', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (printed) => {
        // JavaScript prints -0 as 0.
        expect(value(`validation MAE: ${printed}`, mae)).toBe(printed + 0);
      }),
    );
  });
});
