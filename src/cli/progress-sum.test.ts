import { expect, test } from 'vitest';
import { exampleGrade, examplePlan, exampleRecord, modelCall } from '../../test/fixtures/store/examples.ts';
import type { ExperimentProgress } from '../runs/index.ts';
import { ProgressSum } from './progress-sum.ts';

const ids = ['a', 'b', 'c', 'd', 'e'];

function sumOf(parallel: number) {
  const plan = { ...examplePlan(ids), parallel };
  const clock = { ms: 0 };
  const sum = new ProgressSum(plan, () => clock.ms);
  const report = (id: string, progress: object) => {
    const run = plan.runs.find((each) => each.id === id);
    sum.add({ run, ...progress } as ExperimentProgress);
  };
  const ended = (id: string, changes = {}) =>
    report(id, { kind: 'run_ended', record: exampleRecord({ status: 'finished', ...changes }) });
  const graded = (id: string, seconds = 0, more = {}) =>
    report(id, { kind: 'run_graded', grades: [{ ...exampleGrade('a' as never), seconds, ...more }] });
  return { sum, clock, report, ended, graded };
}

test('the remaining time is estimated from the runs that have ended', () => {
  const { sum, clock, report, ended, graded } = sumOf(2);
  expect(sum.leftMs()).toBeNull();
  report('e', { kind: 'run_kept', record: exampleRecord({ status: 'finished' }) });
  for (const id of ['a', 'b']) report(id, { kind: 'run_started', resumed: false });
  clock.ms = 60_000;
  ended('a');
  graded('a');
  report('c', { kind: 'run_started', resumed: false });
  // b should have ended, c takes a minute, d waits for a minute.
  expect(sum.leftMs()).toBe(60_000);
  clock.ms = 90_000;
  ended('b');
  expect(sum.leftMs()).toBe((45_000 + 75_000) / 2);
  expect(sum.over).toBe(3);
});

test('the remaining time includes gradings, once one of the task has shown how long they take', () => {
  const { sum, clock, report, ended, graded } = sumOf(5);
  for (const id of ids) report(id, { kind: 'run_started', resumed: false });
  clock.ms = 10_000;
  for (const id of ids.slice(0, 4)) ended(id);
  ended('e', { status: 'failed' });
  expect([sum.gradedText, sum.leftMs()]).toEqual(['0 of 4 graded', null]);
  graded('a', 30, { others_cores: 0 });
  expect([sum.gradedText, sum.leftMs()]).toEqual(['1 of 4 graded', 90_000]);
  report('b', { kind: 'run_not_graded', message: 'no', error: 'none' });
  graded('c', 20);
  expect([sum.gradedText, sum.leftMs()]).toEqual(['3 of 4 graded', 25_000]);
  graded('d', 20);
  expect([sum.gradedText, sum.leftMs()]).toEqual(['', 0]);
});

test('tokens and their cost come from the calls until a run ends, then from its record', () => {
  const { sum, report, ended } = sumOf(1);
  expect(sum.spentText()).toBe('');
  const usage = { input: 900, output: 100, source: 'provider' };
  const call = modelCall(1, { usage: usage as never, cost: 0.5 });
  report('a', { kind: 'run_step', progress: { kind: 'model_called', call } });
  report('b', { kind: 'run_step', progress: { kind: 'model_called', call } });
  expect(sum.spentText()).toBe('2K tokens, $1.00');
  ended('a', { spent: { calls: 7, tokens: 11_340, money: 2, unpriced: 0 } });
  expect(sum.spentText()).toBe('12.3K tokens, $2.50');
  ended('b', { spent: { calls: 7, tokens: 1_000_000, money: 2, unpriced: 1 } });
  expect(sum.spentText()).toBe('1.01M tokens, at least $4.00');
});

test('a run that waits for a decision has not ended, and its time says nothing about others', () => {
  const { sum, clock, report, ended } = sumOf(1);
  report('a', { kind: 'run_started', resumed: false });
  clock.ms = 4_000;
  ended('a', { status: 'waiting' });
  expect([sum.over, sum.waiting, sum.leftMs()]).toEqual([0, 1, null]);
  report('a', { kind: 'run_started', resumed: true });
  expect(sum.waiting).toBe(0);
  clock.ms = 8_000;
  ended('a');
  report('b', { kind: 'run_started', resumed: false });
  ended('b', { status: 'waiting' });
  expect([sum.over, sum.waiting, sum.leftMs()]).toEqual([1, 1, null]);
});
