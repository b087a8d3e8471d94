import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../lib/cache-folder.ts';
import { ensurePython, loadTask } from '../../../tasks/index.ts';

/** How the scripts that automl writes read data: calls their parts. */
const root = join(import.meta.dirname, '../../../..');
const { executable: python } = await ensurePython(loadTask('digits', [join(root, 'tasks')]).requirements, {
  cache: cacheFolder(process.env),
});

/** What a program prints as JSON. `settings`: assignments in Python, made before any part is imported. */
function printedBy(settings: string, program: string): unknown {
  const input = `import json\nimport numpy as np\nfrom automl import settings\n${settings}\n${program}\n`;
  const { stdout, stderr, status } = spawnSync(python, ['-'], {
    env: { PATH: process.env.PATH, PYTHONPATH: join(root, 'python') },
    ...{ encoding: 'utf8', input },
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

/** The classes in their order. */
function classesOf(settings: string, answers: string): unknown {
  const program = `from automl.data import encode
print(json.dumps(encode([(each,) for each in ${answers}])[1]))`;
  return printedBy(`settings.CLASSIFIES = True\n${settings}`, program);
}

const paid = '["paid", "overdue", "overdue", "paid", "overdue"]';
const faults = '["ok", "fault", "ok", "ok"]';

test.each([
  [
    'that the column is named after',
    'settings.COLUMNS = ["p_churned"]',
    '["churned", "retained"]',
    'churned',
  ],
  ['of whose name the column has another form', 'settings.COLUMNS = ["faulty"]', faults, 'fault'],
  ['whose name is the longer of two', 'settings.COLUMNS = ["pNotPaid"]', '["not paid", "paid"]', 'not paid'],
  ['that the task names', 'settings.POSITIVE = ["a bill is overdue"]', paid, 'overdue'],
  ['that is affirmed', 'settings.METRIC = "f1"', '["Approved", "Not approved", "Approved"]', 'Approved'],
  ['that is 1', 'settings.METRIC = "f1"', '["1", "0", "1"]', '1'],
  ['that is clearly rarer', '', faults, 'fault'],
  ['that is the last, else', '', '["ok", "fault"]', 'ok'],
])('of two classes the positive one is the one %s', (_, settings, answers, positive) => {
  expect((classesOf(settings, answers) as string[])[1]).toBe(positive);
});

test.each([
  ['numbers', 'settings.VALUES = []', '["10", "9", "1"]', ['1', '9', '10']],
  [
    'the order in which the task lists them',
    'settings.VALUES = ["low", "medium", "high"]',
    '["high", "low"]',
    ['low', 'high'],
  ],
  ['letters', 'settings.VALUES = ["b"]', '["b", "c", "a"]', ['a', 'b', 'c']],
])('classes are ordered by %s', (_, settings, answers, classes) => {
  expect(classesOf(settings, answers)).toEqual(classes);
});

test('dates are read as people write them, and numbers are none', () => {
  const areDates = (format: string) =>
    printedBy(
      '',
      `from datetime import date, timedelta
from automl.data import Data
from automl.dates import add_dates
data = Data([], np.zeros(0), [])
days = [date(2022, 1, 1) + timedelta(days=31 * each) for each in range(40)]
print(json.dumps(add_dates("when", [day.strftime("${format}") for day in days], data)))`,
    );
  for (const format of ['%Y-%m-%d', '%b %d, %Y', '%d %B %Y', '%A, %d %B %Y', '%d/%m/%y', '%Y-%m', '%Y%m%d'])
    expect(areDates(format), format).toBe(true);
  const mixed = printedBy(
    '',
    `from automl.moments import days_of
print(json.dumps(days_of(["2024-03-17", "31.08.2023", "", "04.01.2023", "2023-01-20"])))`,
  );
  expect(mixed).toEqual(['2024-03-17', '2023-08-31', '', '2023-01-04', '2023-01-20']);
  for (const format of ['%j', '%Y.%j', '1.5e+%j', 'room %j']) expect(areDates(format), format).toBe(false);
});

test('days between two dates of a row are a column of their own, with gaps where one is missing', () => {
  const between = printedBy(
    '',
    `from automl.data import Data
from automl.dates import add_dates
data = Data([], np.zeros(0), [])
add_dates("sown", ["2024-03-01", "2024-03-11", "", "2023-12-31"], data)
add_dates("cut", ["02.03.2024", "20.03.2024", "01.03.2024", "01.01.2024"], data)
print(json.dumps([None if np.isnan(each) else each for each in data.numbers["sown to cut"]]))`,
  );
  expect(between).toEqual([1, 9, null, 1]);
});

test('the last rows measure as far back as the rows to predict reach ahead, and columns that move on with time are known', () => {
  const found = printedBy(
    '',
    `from automl.blend import later_rows, moving
from automl.data import Data
order = np.arange(100.0)
data = Data(["a", "b"], np.zeros(100), [])
data.numbers = {"time": np.arange(102.0), "hour": np.arange(102.0) % 24}
print(json.dumps([[int(later_rows(order, ahead).sum()) for ahead in (10, 1, 70)], moving(data)]))`,
  );
  expect(found).toEqual([[10, 20, 20], ['time']]);
});

test('of a table whose rows hold from one day to another, a row gets what holds on its day and began last', () => {
  const found = printedBy(
    '',
    `from automl.spans import find_span, join_span
prices = {
    "shop": ["a", "a", "b", "a"],
    "from": ["2024-01-01", "2024-01-10", "2024-01-05", "2024-01-03"],
    "to": ["2024-01-20", "", "2024-01-06", "2024-01-04"],
    "price": ["1", "2", "3", "4"],
}
rows = {"when": ["2024-01-04", "2024-01-12", "2024-01-06", "2024-01-07", "2023-12-31", ""], "shop": list("aabbaa")}
told = {name: cells for name, cells in prices.items() if name != "shop"}
span = find_span(rows, told)
print(json.dumps([span, join_span(rows, ["shop"], span, prices), find_span({"when": ["x"]}, told)]))`,
  );
  expect(found).toEqual([
    ['from', 'to', 'when'],
    { holds: ['1', '1', '1', '0', '0', '0'], price: ['4', '2', '3', '', '', ''] },
    [],
  ]);
});

test('names are one however they are spelt, DNA and RNA too, and numbers are told beside what is usual for a name', () => {
  const found = printedBy(
    '',
    `from automl.data import Data
from automl.letters import add_letters
from automl.table import add_deviations, add_names
data = Data([], np.zeros((60, 1)), [])
add_names("oven", ["RB-7", "rb 7", "Rb7 ", "GM-2", "gm2", "GM 2"] * 10, data)
data.numbers["heat"] = np.array([100.0, 101, 102, 200, 201, 202] * 10) + np.arange(60) / 100
add_deviations(data)
beside = data.numbers["heat beside its oven"]
add_letters("s", ["GATTACA" + "ACGT" * k for k in range(1, 31)] + ["gauuaca" + "acgu" * k for k in range(1, 31)], data)
print(json.dumps([sorted(set(data.names["oven"])), float(np.abs(beside).max()), data.numbers["s count of GAT"].tolist() == [1] * 60]))`,
  );
  expect(found).toEqual([['gm2', 'rb7'], expect.closeTo(1.3, 0.1), true]);
});

test('quantiles of points tell what is anywhere in a picture', () => {
  const found = printedBy(
    '',
    `from automl.shapes import spread_of
rng = np.random.default_rng(0)
plain = rng.normal(size=(40, 1, 16, 16))
spotted = plain.copy()
for each in spotted:
    row, column = rng.integers(0, 13, 2)
    each[0, row:row + 3, column:column + 3] += 5
told = [spread_of(each) for each in (plain, spotted)]
print(json.dumps([list(told[0].shape), int(np.max(np.abs(told[1].mean(0) - told[0].mean(0)) / told[0].std(0)) > 5)]))`,
  );
  expect(found).toEqual([[40, 90], 1]);
});

test('amounts are read with their units, which are taken for each other, and plain numbers and codes are none', () => {
  const read = (cells: string[]) =>
    printedBy(
      '',
      `from automl.amounts import add_amounts
from automl.data import Data
data = Data([], np.zeros(0), [])
is_read = add_amounts("a", ${JSON.stringify(cells)}, data)
print(json.dumps([is_read, {name: [None if value != value else value for value in cells] for name, cells in data.numbers.items()},
  {name: list(cells) for name, cells in data.names.items()}]))`,
    );
  expect(read(['12.5 m', '', '40 ft', '20ft', '7.5m', '60 ft', '10 m'])).toEqual([
    true,
    {
      'a number 0': [12.5, null, 40, 20, 7.5, 60, 10],
      'a size 0': [1.25, null, 1, 0.5, 0.75, 1.5, 1],
    },
    expect.objectContaining({ 'a around': ['#m', '', '#ft', '#ft', '#m', '#ft', '#m'] }),
  ]);
  expect(read(['$1,200', '$900', '$-3.5'])).toMatchObject([true, { 'a number 0': [1200, 900, -3.5] }, {}]);
  expect(read(['3h 20m', '1h 5m', '12h 0m'])).toMatchObject([
    true,
    { 'a number 0': [3, 1, 12], 'a number 1': [20, 5, 0] },
    {},
  ]);
  expect(read(['7/8" x 8"', '1 1/16" x 6"', '25 x 150 mm', '27 x 175'])).toMatchObject([
    true,
    { 'a number 0': [0.875, 1.0625, 25, 27], 'a number 1': [8, 6, 150, 175] },
    {},
  ]);
  expect(read(['10-15', '5-8', '1-20'])).toMatchObject([true, { 'a number 1': [15, 8, 20] }, {}]);
  for (const others of [
    ['12', '7.5', '3'],
    ['CC1=O', 'c1ccN1', 'C12N'],
    ['red', 'blue', ''],
  ])
    expect(read(others)).toEqual([false, {}, {}]);
});

test('large arrays become at most about a thousand columns, whatever their shape', () => {
  const columnsOf = (...shape: number[]) =>
    printedBy(
      '',
      `from automl.arrays import as_numbers
from automl.data import Data
rows = np.arange(${shape.join('*')} * 3.0).reshape(3, ${shape.join(', ')})
print(json.dumps(len(as_numbers(Data([], np.zeros(0), []), rows).numbers)))`,
    );
  // Of sequences, blocks, five measures of each channel, and its swings in 16 bands.
  const whole = 5 + 16;
  expect([columnsOf(500, 6), columnsOf(6, 500), columnsOf(128, 9)]).toEqual([
    ...[(166 + whole) * 6, (166 + whole) * 6, (64 + whole) * 9],
  ]);
  // Of pictures, the means of squares, what their edges and the patches of each quarter are like, and quantiles of their
  // points: of each channel, and of what nine filters make of them.
  const looks = (channels: number) => 1 + 8 * 16 + 16 + 8 + 4 * 2 * 64 + (channels + 9) * 9;
  expect([columnsOf(64, 64), columnsOf(3, 64, 64)]).toEqual([36 + looks(1), 48 + looks(3)]);
  expect([columnsOf(9, 9), columnsOf(7, 7), columnsOf(2, 3, 4, 5)]).toEqual([16 + looks(1), 49, 120]);
});

test('sequences that swing at another pace differ in other columns, wherever the swings begin', () => {
  const [slow, later, fast] = printedBy(
    '',
    `from automl.shapes import swings_of
steps = np.arange(200)
rows = np.stack([np.sin(0.3 * steps), np.sin(0.3 * steps + 2), np.sin(2.0 * steps)])
print(json.dumps(swings_of(rows).tolist()))`,
  ) as number[][];
  const strongest = (bands: number[] = []) => bands.indexOf(Math.max(...bands));
  expect(strongest(later)).toBe(strongest(slow));
  expect(strongest(fast)).toBeLessThan(strongest(slow));
});

test('rows whose neighbours are alike are sequences, others are not', () => {
  const told = printedBy(
    '',
    `from automl.shapes import are_sequences
rng = np.random.default_rng(0)
walk = rng.normal(size=(50, 40)).cumsum(axis=1)
print(json.dumps([are_sequences(walk), are_sequences((100 + 2 * walk).astype("u1")), are_sequences(rng.normal(size=(50, 40)))]))`,
  );
  expect(told).toEqual([true, true, false]);
});

test('the edges in a picture say the same of it when it is brighter, and tell stripes of different directions apart', () => {
  const [as, brighter, across, turned] = printedBy(
    '',
    `from automl.shapes import edges_in
lines = np.tile(np.sin(np.arange(24.0)), (24, 1))
pictures = np.stack([lines, 3 * lines + 2, lines.T, np.rot90(lines)])[:, None]
print(json.dumps(edges_in(pictures).tolist()))`,
  ) as number[][];
  const shares = ([, ...rest]: number[] = []) => rest.map((value) => Number(value.toFixed(5)));
  expect(shares(brighter)).toEqual(shares(as));
  expect(shares(across)).not.toEqual(shares(as));
  // Eight directions in sixteen cells; then the cells, and the directions, in the order of their edges.
  expect(shares(as)).toHaveLength(8 * 16 + 16 + 8);
  expect(shares(turned).slice(-24)).toEqual(shares(across).slice(-24));
  expect(shares(turned).slice(-24)).toEqual(shares(as).slice(-24));
});

test('patches tell marks apart wherever they are, which points alone do not', () => {
  const [patches, points, plain] = printedBy(
    '',
    `from automl.shapes import columns_of, patches_in
rng = np.random.default_rng(1)
pictures, kinds = rng.normal(0, 0.2, (600, 14, 14)), np.arange(600) % 2
across = np.zeros((5, 5))
across[2] = across[:, 2] = 1
for picture, kind in zip(pictures, kinds):
    top, left = rng.integers(0, 10, 2)
    picture[top : top + 5, left : left + 5] += (across, np.maximum(np.eye(5), np.eye(5)[::-1]))[kind]

def told(columns):
    columns = np.hstack([columns - columns.mean(axis=0), np.ones((600, 1))])
    known, penalty = columns[:400], 3 * np.eye(columns.shape[1])
    weights = np.linalg.solve(known.T @ known + penalty, known.T @ (2 * kinds[:400] - 1))
    return ((columns[400:] @ weights > 0) == kinds[400:]).mean()

print(json.dumps([told(10 * patches_in(pictures[:, None])), told(pictures.reshape(600, -1)),
  bool(np.isfinite(columns_of(np.zeros((20, 12, 12), "u1"))).all())]))`,
  ) as [number, number, boolean];
  expect(patches).toBeGreaterThan(0.9);
  expect(points).toBeLessThan(0.7);
  expect(plain).toBe(true);
});

test('many rows of a key are summed up: in all, by kind, lately, and how their numbers change in the order of time', () => {
  const known = printedBy(
    '',
    `from automl.joins import sum_up
day = ["2024-01-02", "2024-01-01", "2024-01-01", "2024-01-03"]
other = {"key": ["a", "a", "b", "a"], "day": day, "force": ["4", "1", "", "6"], "kind": ["x", "y", "y", "y"]}
print(json.dumps({name: [cells["a",], cells["b",]]
  for name, cells in sum_up(other, ["day", "force", "kind"], {("a",): [0, 1, 3], ("b",): [2]}).items()}))`,
  ) as Record<string, [string, string]>;
  expect(known).toMatchObject({
    rows: ['3.0', '1.0'],
    'sum of force': ['11.0', '0.0'],
    'least of force': ['1.0', ''],
    'most of force': ['6.0', ''],
    'first of force': ['1.0', ''],
    'last of force': ['6.0', ''],
    'mean step of force': ['2.5', ''],
    'rows where kind is y': ['2.0', '1.0'],
    'sum of force where kind is y': ['7.0', '0.0'],
    'rows in the last 0.05 of day': ['1.0', '0.0'],
  });
  const kinds = Array.from({ length: 8 }, (_, index) => `k${index}`);
  const names = printedBy(
    '',
    `from automl.joins import sum_up
print(json.dumps(list(sum_up({"kind": ${JSON.stringify(kinds)}, "force": ["1"] * 8}, ["kind", "force"], {("a",): list(range(8))}))))`,
  ) as string[];
  expect(names).toContain('rows where kind is k7');
  expect(names).not.toContain('sum of force where kind is k7');
});

test('a table tells more of the rows of one that is joined, however its keys are spelt', () => {
  const lines = printedBy(
    '',
    `from automl.joins import look_up
lines = {"code": ["A1", "a1", "B2", ""], "group": ["x", "x", "y", "z"]}
look_up(lines, {"code": ["A1", "B2"], "price": ["3", "4"], "group": ["no", "no"], "shop": ["1", "2"]}, {"shop"})
look_up(lines, {"code": ["A1", "A1"], "many": ["3", "4"]}, set())
print(json.dumps(lines))`,
  );
  expect(lines).toEqual({
    code: ['A1', 'a1', 'B2', ''],
    group: ['x', 'x', 'y', 'z'],
    price: ['3', '3', '4', ''],
  });
});

test('of a long list of kinds, the rows of each frequent one are counted, however it is spelt', () => {
  const names = printedBy(
    '',
    `from automl.joins import sum_up
codes = [code for kind in range(60) for code in [f"BR{kind}", f"br{kind}"] * 12] + [f"x{number}" for number in range(99)]
found = sum_up({"code": codes, "day": codes}, ["code", "day"], {("a",): list(range(len(codes)))})
print(json.dumps([found["rows where code is br59"]["a",], len(found)]))`,
  );
  expect(names).toEqual(['24.0', 64]);
});
