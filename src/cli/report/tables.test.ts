import { expect, test } from 'vitest';
import { evaluation } from '../../../test/fixtures/evaluations.ts';
import type { FurtherCosts } from '../../runs/index.ts';
import type { Report } from '../../schema/index.ts';
import { buildReport } from '../../statistics/index.ts';
import { documentOf, usualTables } from './document-of.ts';
import { type ReportTableName, reportTables } from './tables.ts';

/** The texts and the machine-readable values of some columns in the first row. */
function cellsOf(name: 'runs' | 'efficiency' | 'results', estimated: number, columns: readonly string[]) {
  const run = evaluation();
  run.efficiency.tokens.agent.estimated = estimated;
  const table = reportTables[name](name, buildReport([run], { resamples: 10 }));
  const row = table.rows[0] ?? [];
  return columns.map((column) => row[table.columns.findIndex((one) => one.name === column)]);
}

test('tokens that no provider counted, and their cost, are marked', () => {
  for (const [name, tokens] of [
    ['runs', ['tokens', 'estimated_tokens', 'money']],
    ['efficiency', ['agent_prompt_tokens', 'agent_completion_tokens', 'money']],
    ['results', ['money']],
  ] as const) {
    for (const cell of cellsOf(name, 0, tokens)) expect(cell?.text).not.toContain('≈');
    const marked = cellsOf(name, 60, tokens).filter((_, index) => tokens[index] !== 'estimated_tokens');
    for (const cell of marked) expect(cell?.text).toMatch(/^≈ [\d$]/);
    for (const cell of marked) expect(typeof cell?.value).toBe('number');
  }
  expect(cellsOf('runs', 60, ['estimated_tokens'])[0]?.value).toBe(60);
});

test('pooled runs of different versions of a task, or under different limits, get a caveat', () => {
  const caveats = (changes: Parameters<typeof evaluation>[0]) => {
    const runs = [
      { seed: 0, task_version: 'a', conditions: 'c' },
      { seed: 1, ...changes },
    ].map(evaluation);
    return firstRow(buildReport(runs, { resamples: 10 }), 'results').caveats;
  };
  expect(caveats({ task_version: 'a', conditions: 'c' })).toBe('');
  expect(caveats({})).toBe('');
  expect(caveats({ task_version: 'b', conditions: 'd' })).toBe(
    'different limits or settings of models, different versions of the task',
  );
  expect(caveats({ task: 'ecoli', task_version: 'b', conditions: 'd' })).toBe('');
});

test('pooled runs that were graded against different baselines get a caveat', () => {
  const caveats = (...means: number[]) => {
    const reference = evaluation().scoring_reference;
    if (reference === null) throw new Error('its task has one');
    const baseline = (mean: number) => ({ mean, spread: 0.01, seeds: 3 });
    const runs = means.map((mean, seed) =>
      evaluation({ seed, scoring_reference: { ...reference, baseline: baseline(mean) } }),
    );
    return firstRow(buildReport(runs, { resamples: 10 }), 'results').caveats;
  };
  expect(caveats(0.5, 0.5)).toBe('');
  expect(caveats(0.5, 0.6)).toBe('graded against different baselines or references');
});

test('the cost of runs whose price is unknown is not left out of the sum in silence', () => {
  const said = (...money: (number | null)[]) => {
    const runs = money.map((each, seed) => evaluation({ seed, money: each }));
    return documentOf(buildReport(runs, { resamples: 10 }), null, []).summary[0];
  };
  expect(said(0.5, 0.25)).toContain('on 1 task, $0.7500 in all.');
  expect(said(0.5, null, null)).toContain(
    'on 1 task, $0.5000 in all, without calls of unknown cost in 2 runs.',
  );
  expect(said(null)).toContain('on 1 task, the cost of 1 run is not known.');
});

test('what is known of a cost is named: of calls in runs, attempts and branches that also made calls without a price', () => {
  const [run] = buildReport([evaluation({ money: null })], { resamples: 10 }).runs;
  if (run === undefined) throw new Error('there is one');
  const priced = { model: 'a/b', calls: 1, tokens: 9, money: 0.5 };
  const runs = [{ ...run, models: [priced, { ...priced, model: 'own/c', money: null }] }];
  const said = (discarded: Cost, branches: Cost) => {
    const report = { ...buildReport([evaluation()], { resamples: 10 }), runs };
    return documentOf(report, null, [], { further: { discarded, branches, shared: nothing } }).summary[0];
  };
  expect(said({ ...nothing, money: 0.25, unpriced: 8 }, nothing)).toContain(
    '$0.5000 in all, without calls of unknown cost in 1 run, plus $0.2500 in discarded attempts, without calls of unknown cost in 8 of them.',
  );
  expect(said(nothing, { ...nothing, unpriced: 1 })).toContain(
    'in 1 run, plus calls of unknown cost in 1 branch that people began.',
  );
  const report = buildReport([evaluation({ money: null })], { resamples: 10 });
  const branches = { ...nothing, unpriced: 1 };
  expect(
    documentOf(report, null, [], { further: { discarded: nothing, branches, shared: nothing } }).summary[0],
  ).toContain('the cost of 1 run is not known, plus calls of unknown cost in 1 branch that people began.');
});

type Cost = FurtherCosts['shared'];
const nothing: Cost = { money: 0, estimated: false, unpriced: 0 };

const failed = { reason: 'infrastructure_error', cause: 'sandbox', message: '' } as const;

/** 27 runs: 3 infrastructure failures, and 24 whose end was not graded. */
const nothingMeasured = buildReport(
  Array.from({ length: 27 }, (_, seed) => evaluation({ seed, scores: [], end: seed < 3 ? failed : null })),
  { resamples: 100 },
);

/** The first row of a table, by the names of its columns. */
function firstRow(report: Report, name: ReportTableName): Record<string, string> {
  const { columns, rows } = reportTables[name](name, report);
  return Object.fromEntries(columns.map((column, index) => [column.name, rows[0]?.[index]?.text ?? '']));
}

test('a rate is shown with the runs that it and its interval are based on, not with all runs', () => {
  const caveats = '3 infrastructure failures, 24 runs not finished or not graded';
  const shown = { successes: '0 of 3', success: '0 %', success_low: '0–56.1 %', caveats };
  expect(firstRow(nothingMeasured, 'results')).toMatchObject(shown);
  expect(firstRow(nothingMeasured, 'agents')).toMatchObject({ runs: '27', ...shown });
  expect(firstRow(nothingMeasured, 'thresholds')).toMatchObject({
    end_successes: '0 of 3',
    end_low: '0–56.1 %',
  });
});

test('without infrastructure failures there is no rate if no other run was graded', () => {
  expect(firstRow(nothingMeasured, 'integrity')).toMatchObject({
    success: '0 % (0 of 3)',
    success_without_infrastructure: '–',
  });
  const graded = buildReport([evaluation({ seed: 9 }), evaluation({ seed: 8, scores: [], end: failed })]);
  expect(firstRow(graded, 'integrity')).toMatchObject({
    success: '50 % (1 of 2)',
    success_without_infrastructure: '100 % (1 of 1)',
  });
});

test('rates that are means over tasks count the runs of all of them', () => {
  const report = buildReport([
    evaluation({ seed: 0, task: 'digits' }),
    evaluation({ seed: 1, task: 'digits', scores: [0.5] }),
    evaluation({ seed: 0, task: 'ecoli', scores: [0.5] }),
  ]);
  expect(firstRow(report, 'agents')).toMatchObject({ successes: '1 of 3', success: '25 %' });
  expect(firstRow(report, 'frontiers')).toMatchObject({ successes: '1 of 3', success: '25 %' });
  expect(firstRow(report, 'profiles')).toMatchObject({ runs: '3' });
  expect(firstRow(report, 'process')).toMatchObject({ runs: '3' });
});

test('a mean cost that leaves out runs of unknown cost is marked', () => {
  const known = evaluation({ seed: 0, money: 2 });
  expect(firstRow(buildReport([known]), 'results')).toMatchObject({ money: '$2.00' });
  const report = buildReport([known, evaluation({ seed: 1, money: null })]);
  expect(firstRow(report, 'results')).toMatchObject({ money: '$2.00 (1 of 2 known)' });
  expect(firstRow(report, 'efficiency')).toMatchObject({ money: '$2.00 (1 of 2 known)' });
});

test('the cost of each model is added up over runs, and shown if a run used more than one', () => {
  const use = (model: string, money: number | null) => ({ model, calls: 2, tokens: 50, money });
  const runs = [
    { seed: 0, models: [use('a/x', 1), use('b/y', 3)] },
    { seed: 1, models: [use('a/x', 1), use('b/y', null)] },
  ].map(({ seed, models }) => {
    const run = evaluation({ seed });
    run.efficiency.models = models;
    return run;
  });
  const report = buildReport(runs, { resamples: 10 });
  expect(firstRow(report, 'models')).toMatchObject({ model: 'a/x', runs: '2', calls: '4', money: '$2.00' });
  expect(reportTables.models('models', report).rows[1]?.at(-1)?.text).toBe('–');
  expect(usualTables(report, false)).toContain('models');
  expect(usualTables(buildReport([evaluation()], { resamples: 10 }), false)).not.toContain('models');
});
