import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ExperimentName,
  type ReportRun,
  RunId,
  type RunLine,
  type RunPlace,
  TaskId,
} from '../../../src/schema/index.ts';
import {
  groupKeys,
  matchingRows,
  placeWords,
  type RunRow,
  rowOfLine,
  sortedRows,
  sortKeys,
  tableLines,
} from './run-rows.ts';
import { filterAddress, queryOf } from './use-run-query.ts';

const row = fc.record<RunRow>({
  experiment: fc.constant('e'),
  run: fc.string({ maxLength: 6 }),
  task: fc.constantFrom('digits', 'imdb'),
  agent: fc.constantFrom('automl', 'research(openai/x)'),
  seed: fc.nat(3),
  status: fc.constantFrom('finished', 'running'),
  where: fc.constantFrom('', 'node-7, process 12'),
  why: fc.constantFrom('', 'sandbox: no room'),
  end: fc.constantFrom('final_answer', null),
  outcome: fc.constantFrom('success', 'no_improvement', 'unfinished'),
  score: fc.option(fc.double({ noNaN: true })),
  improvement: fc.option(fc.double({ noNaN: true })),
  steps: fc.nat(50),
  seconds: fc.nat(1000),
  tokens: fc.nat(1000),
  tokens_estimated: fc.nat(1000),
  money: fc.option(fc.double({ min: 0, max: 5, noNaN: true })),
  flags: fc.subarray(['network', 'hidden_data']),
  errors: fc.subarray(['debugging', 'bad_plan']),
  caveats: fc.constant([]),
  stale: fc.boolean(),
  unmeasured: fc.constantFrom(null, [], ['progress.regret']),
  unreadable: fc.constant(null),
});
const rows = fc.array(row, { maxLength: 40 });

test('sorting loses no run, and runs without the value come last in both directions', () => {
  fc.assert(
    fc.property(rows, fc.constantFrom(...sortKeys), fc.boolean(), (all, by, descending) => {
      const sorted = sortedRows(all, { by, descending });
      expect(new Set(sorted)).toEqual(new Set(all));
      const values = sorted.map((line) => line[by]);
      const known = values.filter((value) => value !== null);
      expect(values.slice(0, known.length)).toEqual(known);
      const numbers = known.filter((value) => typeof value === 'number');
      const ordered = descending ? numbers.toSorted((a, b) => b - a) : numbers.toSorted((a, b) => a - b);
      expect(numbers).toEqual(ordered);
    }),
  );
});

test('groups contain every run once, under its name', () => {
  fc.assert(
    fc.property(rows, fc.constantFrom(...groupKeys), (all, by) => {
      const lines = tableLines(all, by);
      expect(new Set(lines.flatMap((line) => (line.kind === 'run' ? [line.row] : [])))).toEqual(new Set(all));
      for (const line of lines) {
        if (line.kind === 'group' && by !== 'none')
          expect(line.rows.every((member) => member[by] === line.name)).toBe(true);
      }
    }),
  );
});

test('a filter keeps runs that match all of it: names, flags, failures, and every word', () => {
  fc.assert(
    fc.property(rows, (all) => {
      const found = matchingRows(
        all,
        { task: 'digits', flag: 'network', error: 'bad_plan' },
        ' SUCCESS  auto ',
      );
      const wanted = all.filter(
        ({ task, flags, errors, outcome, agent, run }) =>
          task === 'digits' &&
          flags.includes('network') &&
          errors.includes('bad_plan') &&
          outcome === 'success' &&
          `${agent} ${run}`.toLowerCase().includes('auto'),
      );
      expect(found).toEqual(wanted);
    }),
  );
});

test('a link to the runs behind a process measure lists only measured ones, and keeps the settings of the page', () => {
  const states = [null, [], ['progress.regret']];
  const all = fc
    .sample(row, 3)
    .map((line, index) => ({ ...line, run: String(index), unmeasured: states[index] ?? null }));
  const address = filterAddress(
    { measure: 'progress.regret' },
    new URLSearchParams('q=typed&agent=other&sort=-score&group=task&map=improvement'),
  );
  const params = new URLSearchParams(address);
  const { filter, text, sorting, group } = queryOf(params);
  expect(matchingRows(all, filter, text).map(({ run }) => run)).toEqual(['1']);
  expect({ sorting, group, map: params.get('map'), show: params.get('show') }).toEqual({
    ...{ sorting: { by: 'score', descending: true }, group: 'task', map: 'improvement', show: 'runs' },
  });
});

test('filter and order are kept in the address, whatever the names contain', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (agent) => {
      expect(queryOf(new URLSearchParams(filterAddress({ agent }))).filter).toEqual({ agent });
    }),
  );
  expect(queryOf(new URLSearchParams('sort=-score&group=task&q=x'))).toMatchObject({
    sorting: { by: 'score', descending: true },
    group: 'task',
    text: 'x',
  });
  expect(queryOf(new URLSearchParams('sort=-nonsense&group=nonsense'))).toMatchObject({
    sorting: { by: 'run', descending: false },
    group: 'none',
  });
});

test('ten thousand runs are filtered and sorted in less than a hundred milliseconds', () => {
  const many = fc
    .sample(row, 10_000)
    .map((line, index) => ({ ...line, task: 'digits', run: `digits-automl-${(index * 7919) % 10_000}` }));
  // The fastest of several: the machine may be busy with other tests.
  const times = Array.from({ length: 10 }, () => {
    const start = performance.now();
    const found = sortedRows(matchingRows(many, { task: 'digits' }, 'digits'), {
      by: 'run',
      descending: true,
    });
    expect(found[0]?.run).toBe('digits-automl-9999');
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(300);
});

test('a row says where its run is, and why it failed, and is found by it', () => {
  const used = { seconds: 0, tokens: 0, money: 0, unpriced: 0, estimated: 0 };
  const line = (run: string, place: RunPlace): RunLine => ({
    ...{ run: RunId.parse(run), task: TaskId.parse('digits'), agent: 'noop', seed: 0, status: 'running' },
    ...{ ...place, end: null, steps: 0, used, started: null, updated: null, parent: null, caveats: [] },
    unreadable: null,
  });
  const all = [
    line('first', { state: 'queued', where: 'slurm', why: '' }),
    line('second', { state: 'running', where: 'node-7, process 12, GPU-1', why: '' }),
    line('third', { state: 'failed', where: '', why: 'sandbox: no room' }),
  ].map((each) => rowOfLine('e', each, null));
  expect(all.map((each) => `${each.status} ${placeWords(each)}`)).toEqual([
    'queued slurm',
    'running node-7, process 12, GPU-1',
    'failed sandbox: no room',
  ]);
  expect(matchingRows(all, {}, 'node-7').map(({ run }) => run)).toEqual(['second']);
  expect(matchingRows(all, {}, 'no room').map(({ run }) => run)).toEqual(['third']);
});

describe('a run that a report knows', () => {
  const line: RunLine = {
    ...{ run: RunId.parse('r'), task: TaskId.parse('digits'), agent: 'automl', seed: 0, status: 'finished' },
    ...{ state: 'finished', where: '', why: '', end: 'final_answer', steps: 1, started: 1, updated: 2 },
    used: { seconds: 1, tokens: 0, money: 0.2, unpriced: 0, estimated: 0 },
    ...{ parent: null, caveats: ['imported'], unreadable: null },
  };
  const known: ReportRun = {
    ...{ experiment: ExperimentName.parse('e'), run: line.run, task: line.task, agent: 'automl', seed: 0 },
    ...{ status: 'finished', end: null, outcome: 'success', score: 1, baseline: 2, improvement: 0.5 },
    ...{ normalised: 1, success: true, significant: true, best: null, stale: false, steps: 1, seconds: 0.9 },
    ...{ tokens: 0, tokens_estimated: 0, money: 0.1, flags: [], errors: [] },
    caveats: ['imported', 'timed beside other work on the machine'],
  };

  test('has the caveats of its plan and, once evaluated, also those of its grade', () => {
    expect(rowOfLine('e', line, null).caveats).toEqual(['imported']);
    expect(rowOfLine('e', line, known).caveats).toEqual(known.caveats);
  });

  test('has the time and the cost of the report once it has ended, and its own while it is running', () => {
    expect(rowOfLine('e', line, known)).toMatchObject({ seconds: 0.9, money: 0.1 });
    const running: RunLine = { ...line, status: 'running' };
    expect(rowOfLine('e', running, known)).toMatchObject({ seconds: 1, money: 0.2 });
  });

  test('has the agent of the report, which tells versions apart', () => {
    const agent = 'automl@111111';
    const row = rowOfLine('e', line, { ...known, agent });
    expect(matchingRows([row], { agent }, '')).toEqual([row]);
  });
});
