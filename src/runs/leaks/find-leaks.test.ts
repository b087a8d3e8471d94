import { describe, expect, test } from 'vitest';
import { type LeakReport, orderOf, valuesOf } from './find-leaks.ts';

const leak: LeakReport['leaks'][number] = {
  ...{
    place: 'packages',
    where: 'sklearn/id_40966.csv',
    column: 'x',
    hidden: 'hours',
    how: 'joined by n = id',
  },
  ...{ relation: 'other values that determine them', strength: 0.97, rows: 41, share: 0.138 },
};

function answer(changes: Partial<LeakReport>): LeakReport {
  return {
    leaks: [],
    revealed: [],
    hidden: ['labels.csv: hours'],
    files: 1,
    columns: 1,
    unread: [],
    unsearched: [],
    late: [],
    ...changes,
  };
}

test('both searches say why they checked nothing in a task without tables', () => {
  for (const { notes, notRun } of [orderOf(answer({ hidden: [] })), valuesOf(answer({ hidden: [] }), null)]) {
    expect(notRun).toBe(true);
    expect(notes).toEqual(['the private data contains no tables: nothing to look for']);
  }
});

test('both searches name the private files that they could not search, with the reason and what to do', () => {
  const unsearched = ['a.bin: no table was found in it', 'b.json: no table was found in it'];
  const nothing = answer({ hidden: [], unsearched });
  for (const { notes, notRun } of [orderOf(nothing), valuesOf(nothing, null)]) {
    expect(notRun).toBe(true);
    expect(notes).toEqual([
      expect.stringMatching(
        /^NOT searched for what is in private\/a\.bin: no table .*; private\/b\.json: .*CSV or as JSON records.* by hand/,
      ),
    ]);
  }
  const [first, second] = valuesOf(answer({ unsearched }), null).notes;
  expect(first).toMatch(
    /^looked for labels\.csv: hours in .*; NOT for all that private\/ contains: see --json$/,
  );
  expect(second).toMatch(/^NOT searched, or only in part: private\/a\.bin: no table/);
});

test('an order that reveals no more than public columns is noted, and is not a fault', () => {
  const one = { by: "the row's position", hidden: 'kwh', strength: 0.95, deviations: 40, rows: 300 };
  const { faults, notes } = orderOf(answer({ revealed: [{ ...one, shown: 'hour and meter' }] }));
  expect(faults).toEqual([]);
  expect(notes).toEqual([expect.stringMatching(/; so do the public columns \(hour and meter\)$/)]);
  const part = { ...one, by: 'id modulo 24', shown: 'hour' };
  const parts = [
    ['id modulo 24', 'id'],
    ['n modulo 24', 'n'],
    ['scaled', 'id'],
  ].map(([column = '', key]) => ({ ...leak, column, hidden: 'kwh', how: `joined by ${key} = id` }));
  parts.push({ ...leak, hidden: 'kwh', how: 'in the same order', strength: 0.8 });
  const found = valuesOf(answer({ revealed: [part], leaks: parts }), 'id').faults;
  expect(found).toEqual([expect.stringContaining('scaled: tells the hidden kwh')]);
  expect(orderOf(answer({ revealed: [{ ...one, shown: '' }] })).faults).toEqual([
    expect.stringContaining('time series'),
  ]);
  const size = { ...one, by: 'size in data/plates (the files themselves)', shown: '' };
  expect(orderOf(answer({ revealed: [size] })).faults).toEqual([
    expect.stringMatching(/\(300 rows\)\. What a file shows .* without compression/),
  ]);
});

describe('if the order of the rows reveals the target', () => {
  const revealed = [
    { by: "the row's position", hidden: 'hours', strength: 0.99, deviations: 40, rows: 300, shown: '' },
  ];

  test('that is the first fault, and what was joined by order or id is left out', () => {
    const copy = {
      ...leak,
      place: 'data' as const,
      where: 'data/all.csv',
      relation: 'the same values',
      strength: 1,
    };
    const content = { ...leak, where: 'data/other.csv', how: 'joined by rows with the same values' };
    const leaks = [
      leak,
      { ...leak, relation: 'the same values' },
      { ...leak, how: 'sorted by id, backwards' },
      copy,
      content,
    ];
    const { faults } = valuesOf(answer({ revealed, leaks }), 'id');
    expect(faults.map((fault) => fault.split(/[:,]/, 1)[0])).toEqual([
      "the row's position tells the hidden hours",
      'data/all.csv',
      'data/other.csv',
    ]);
  });

  test('findings about other columns are kept, and all are kept if the order reveals little', () => {
    const other = { ...leak, hidden: 'price' };
    expect(valuesOf(answer({ revealed, leaks: [leak, other] }), 'id').faults).toHaveLength(2);
    const little = revealed.map((one) => ({ ...one, strength: 0.05 }));
    expect(valuesOf(answer({ revealed: little, leaks: [leak, other] }), 'id').faults).toHaveLength(2);
  });
});
