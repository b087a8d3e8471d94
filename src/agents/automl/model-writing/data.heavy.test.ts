import { expect, test } from 'vitest';
import { printer } from '../../../../test/fixtures/parts-of-automl.ts';

/** How the scripts that automl writes read data: calls their parts. */
const printedBy = await printer();

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
    `from automl.moments import moments_of
print(json.dumps([str(each and each.date()) for each in moments_of(["2024-03-17", "31.08.2023", "", "04.01.2023", "2023-01-20"])]))`,
  );
  expect(mixed).toEqual(['2024-03-17', '2023-08-31', 'None', '2023-01-04', '2023-01-20']);
  const some = printedBy(
    '',
    `from automl.moments import moments_of
days = [f"2015-03-{day:02}" for day in range(1, 21)]
print(json.dumps([list(map(str, moments_of([*days, "ca. 2015", "07/2015"])[-2:])), moments_of([*days, "unknown", "lost", "none"]), moments_of(["about 2015", "2016"])]))`,
  );
  expect(some).toEqual([['2015-07-01 00:00:00', '2015-07-01 00:00:00'], [], []]);
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
      'a place 0': expect.arrayContaining([null, 0]),
    },
    expect.objectContaining({ 'a around': ['#m', '', '#ft', '#ft', '#m', '#ft', '#m'] }),
  ]);
  // What is as warm has the same place among the temperatures of its own scale.
  const degrees = Array.from({ length: 12 }, (_, place) => 10 + place / 2);
  const [, { 'a place 0': places = [] }] = read([
    ...degrees.map((each) => `${each}`.replace('.', ',')),
    ...degrees.map((each) => `${each * 1.8 + 32} F`),
  ]) as [boolean, Record<string, number[]>];
  expect(places.slice(12)).toEqual(places.slice(0, 12).map((each) => expect.closeTo(each, 6)));
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

test('a letter with what is said of it is one letter, and branches of molecules are none', () => {
  const found = printedBy(
    '',
    `from automl.letters import as_spelt
molecules = ["CC(C)N", "C[C@H](N)C(=O)O", "c1ccccc1"]
print(json.dumps([list(map(len, as_spelt(["AC[+57.02]DEM(ox)K", "PEPTIDE", "[Acetyl]-MK"]))), as_spelt(molecules) == molecules]))`,
  );
  expect(found).toEqual([[6, 7, 4], true]);
});
