import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';

const root = join(import.meta.dirname, '../../../..');
const { executable: python } = await ensurePython(loadTask('digits', [join(root, 'tasks')]).requirements, {
  cache: cacheFolder(process.env),
});

function printedBy(program: string): unknown {
  const { stdout, stderr, status } = spawnSync(python, ['-c', program], {
    env: { PATH: process.env.PATH, PYTHONPATH: join(root, 'python') },
    encoding: 'utf8',
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout);
}

const start = `
import json
import numpy as np
import automl.settings as settings

def score_of(metric, classifies, truth, guess):
    settings.METRIC, settings.CLASSIFIES = metric, classifies
    import importlib, automl.scores
    return importlib.reload(automl.scores).score(np.array(truth), np.array(guess, float))
`;

/** Calculated by hand from the definitions, on four rows of two classes: three are classified correctly. */
const decisions: [string, number][] = [
  ['accuracy', 0.75],
  ['error rate', 0.25],
  ['balanced accuracy', 0.75],
  ['f1', 2 / 3],
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

test('of two classes the second is the one that the submission names, or the rarer one, and numbers are in order', () => {
  const ordered = (column: string, ...classes: [string, number][]) =>
    printedBy(`
import json
import automl.settings as settings
settings.COLUMNS, settings.CLASSIFIES = [${JSON.stringify(column)}], True
from automl.data import encode
rows = [(name,) for name, count in ${JSON.stringify(classes)} for _ in range(count)]
places, classes = encode(rows)
assert [classes[place] for place in places] == [row[0] for row in rows]
print(json.dumps(classes))`);
  expect(ordered('p_churned', ['churned', 30], ['retained', 20])).toEqual(['retained', 'churned']);
  expect(ordered('prob', ['fraud', 3], ['legit', 30])).toEqual(['legit', 'fraud']);
  expect(ordered('prob', ['fraud', 16], ['legit', 14])).toEqual(['fraud', 'legit']);
  expect(ordered('prob', ['no', 3], ['yes', 30])).toEqual(['no', 'yes']);
  expect(ordered('prob', ['0', 30], ['1', 3])).toEqual(['0', '1']);
  expect(ordered('grade', ['10', 2], ['2', 5], ['1', 9])).toEqual(['1', '2', '10']);
});

test('dates are read as people write them, and numbers are none', () => {
  const areDates = (format: string) =>
    printedBy(`
import json
from datetime import date, timedelta
import numpy as np
from automl.data import Data
from automl.dates import add_dates
data = Data([], np.zeros(0), [])
days = [date(2022, 1, 1) + timedelta(days=31 * each) for each in range(40)]
print(json.dumps(add_dates("when", [day.strftime("${format}") for day in days], data)))`);
  for (const format of ['%Y-%m-%d', '%b %d, %Y', '%d %B %Y', '%A, %d %B %Y', '%d/%m/%y', '%Y-%m', '%Y%m%d'])
    expect(areDates(format), format).toBe(true);
  for (const format of ['%j', '%Y.%j', '1.5e+%j', 'room %j']) expect(areDates(format), format).toBe(false);
});

test('large arrays become at most about a thousand columns, whatever their shape', () => {
  const columnsOf = (...shape: number[]) =>
    printedBy(`
import json
import numpy as np
from automl.arrays import as_numbers
from automl.data import Data
rows = np.arange(${shape.join('*')} * 3.0).reshape(3, ${shape.join(', ')})
print(json.dumps(len(as_numbers(Data([], np.zeros(0), []), rows).numbers)))`);
  // Of sequences, blocks and four measures of each channel.
  expect([columnsOf(500, 6), columnsOf(6, 500), columnsOf(128, 9)]).toEqual([1020, 1020, 612]);
  expect([columnsOf(64, 64), columnsOf(3, 64, 64), columnsOf(9, 9)]).toEqual([1024, 768, 81]);
});
