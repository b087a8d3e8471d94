import { expect, test } from 'vitest';
import { printer } from '../../../../test/fixtures/parts-of-automl.ts';

const printed = await printer();
const printedBy = (program: string) => printed('', program);

const start = `

def score_of(metric, classifies, truth, guess):
    settings.METRIC, settings.CLASSIFIES, settings.QUANTILES = metric, classifies, [0.8]
    import importlib, automl.scores
    return importlib.reload(automl.scores).score(np.array(truth), np.array(guess, float))
`;

/** Calculated by hand from the definitions, on four rows of two classes: three are classified correctly. */
const decisions: [string, number][] = [
  ['accuracy', 0.75],
  ['error rate', 0.25],
  ['balanced accuracy', 0.75],
  ['balanced error', 0.25],
  ['f1', 2 / 3],
  // Of what is found all is right, and half of what is there is found.
  ['f2', (5 * 0.5) / (4 + 0.5)],
  ['macro f0.5', ((1.25 * 0.5) / (0.25 + 0.5) + (1.25 * (2 / 3)) / (0.25 * (2 / 3) + 1)) / 2],
  ['macro f1', (2 / 3 + 0.8) / 2],
  ['weighted f1', (2 / 3 + 0.8) / 2],
  ['kappa', 0.5],
  ['quadratic weighted kappa', 0.5],
  ['matthews correlation', 1 / Math.sqrt(3)],
  ['brier', (0.1 ** 2 + 0.4 ** 2 + 0.2 ** 2 + 0.7 ** 2) / 4],
  ['log loss', -(Math.log(0.9) + Math.log(0.6) + Math.log(0.8) + Math.log(0.3)) / 4],
  ['auc', 0.75],
  ['gini', 0.5],
  ['average precision', 0.5 + 0.5 * (2 / 3)],
];

test('scores of classes are those of the definitions', () => {
  const metrics = JSON.stringify(decisions.map(([metric]) => metric));
  const found = printedBy(`${start}
truth, sure = [0, 0, 1, 1], np.array([0.1, 0.4, 0.8, 0.3])
print(json.dumps([score_of(metric, True, truth, np.stack([1 - sure, sure], 1)) for metric in ${metrics}]))`);
  expect(found).toEqual(decisions.map(([, value]) => expect.closeTo(value, 10)));
});

test('of ordered classes, the one nearest to the mean counts, of others the likeliest', () => {
  const found = printedBy(`${start}
unsure = [[0.4, 0.25, 0.35], [0.1, 0.2, 0.7]]
print(json.dumps([score_of(metric, True, [1, 2], unsure) for metric in ["quadratic weighted kappa", "accuracy"]]))`);
  expect(found).toEqual([1, 0.5]);
});

test('scores of labels are those of the definitions, over the labels or over all answers', () => {
  const found = printedBy(`${start}
settings.ARE_LABELS = True
truth, sure = [[1, 0], [1, 1], [0, 1], [0, 1]], [[0.9, 0.2], [0.4, 0.8], [0.1, 0.6], [0.2, 0.3]]
metrics = ["macro f1", "micro f1", "weighted f1", "samples f1", "auc"]
print(json.dumps([score_of(metric, False, truth, sure) for metric in metrics]))`);
  // Of the first label one of two is found, of the second two of three, and nothing else.
  const [first, second] = [2 / 3, 4 / 5];
  // Of the four rows, the first is right, the second half, the third right, and of the fourth nothing is told.
  const means = [(first + second) / 2, 6 / 8, (2 * first + 3 * second) / 5, (1 + 2 / 3 + 1 + 0) / 4];
  expect(found).toEqual([...means, 1].map((value) => expect.closeTo(value, 10)));
});

/** The errors are 1, 0, 0 and 3 of 1, 2, 4 and 8. */
const logs = [Math.log(3 / 2), 0, 0, Math.log(6 / 9)];
const numbers: [string, number][] = [
  ['mae', 1],
  ['median absolute error', 0.5],
  ['rmse', Math.sqrt(2.5)],
  ['msle', logs.reduce((sum, log) => sum + log * log, 0) / 4],
  ['mape', (1 + 3 / 8) / 4],
  ['rmspe', Math.sqrt((1 + 9 / 64) / 4)],
  // Of the ranks 1, 2, 3, 4 and 1.5, 1.5, 3, 4.
  ['spearman', 1.125 / Math.sqrt(1.25 * 1.125)],
  // What is too much counts 0.2, what is missing 0.8 (see `start`).
  ['pinball', (0.2 * 1 + 0.8 * 3) / 4],
];

test('scores of numbers are those of the definitions', () => {
  const metrics = JSON.stringify(numbers.map(([metric]) => metric));
  const found = printedBy(`${start}
truth, guess = [[1], [2], [4], [8]], [[2], [2], [4], [5]]
print(json.dumps([score_of(metric, False, truth, guess) for metric in ${metrics}]))`);
  expect(found).toEqual(numbers.map(([, value]) => expect.closeTo(value, 10)));
});

test('predictions without any agreement, and constant ones, have a score too', () => {
  const found = printedBy(`${start}
same = np.full((4, 2), 0.5)
print(json.dumps([score_of(metric, True, [0, 0, 0, 0], same) for metric in ["kappa", "gini", "auc"]]
    + [score_of("spearman", False, [[1], [2]], [[3], [3]])]))`);
  expect(found).toEqual([0, 0, 0.5, 0]);
});

test('a blend is chosen by what it can reach once its classes are balanced', () => {
  const found = printedBy(`${start}
score_of("macro f1", True, [0, 1], np.eye(2))
from automl.blend import choose_blend
truth = np.array([1, 1] + [0] * 18)
# Tells all apart, but is never sure of the rare class; the other one is sure of half of it.
shy = np.where(truth == 1, 0.3, 0.05)
bold = np.array([0.9, 0.1] + [0.1] * 18)
print(json.dumps(choose_blend(truth, [np.stack([1 - each, each], 1) for each in (shy, bold)]).tolist()))`);
  expect(found).toEqual([1, 0]);
});
