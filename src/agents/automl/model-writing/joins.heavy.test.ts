import { expect, test } from 'vitest';
import { printer } from '../../../../test/fixtures/parts-of-automl.ts';

/** How the scripts that automl writes join tables: calls their parts. */
const printedBy = await printer();

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

test('of many sentences of a key, all are one text', () => {
  const known = printedBy(
    '',
    `from automl.joins import sum_up
notes = ["the lamp is dark", "a branch fell down", "loud music at night"]
other = {"note": notes, "by": ["ann", "bob", "ann"]}
found = sum_up(other, ["note", "by"], {("a",): [0, 2], ("b",): [1]})
print(json.dumps([found["all note"]["a",], found["all note"]["b",], "all by" in found]))`,
  );
  expect(known).toEqual(['the lamp is dark\nloud music at night', 'a branch fell down', false]);
});

test('of what happens in a key, it is told what follows what, and how long that takes', () => {
  const found = printedBy(
    '',
    `from automl.joins import sequels
kinds = np.array(list("ababba"))
numbers = {"clock": np.array([0.0, 2, 3, 9, 0, 4]), "load": np.array([3.0, 1, 2, 1, 0, 1])}
print(json.dumps({name: [None if each != each else each for each in cells]
  for name, cells in sequels(kinds, numbers, np.array([0, 4])).items()}))`,
  );
  expect(found).toEqual({
    ...{ 'a then b': [2, 0], 'b then a': [1, 1] },
    ...{ 'a then b, clock': [4, null], 'b then a, clock': [1, 4] },
  });
});
