import { expect, test } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { loadTask } from '../tasks/index.ts';
import { figureRemarks, type MeasuredHere } from './figure-remarks.ts';

function madeTask() {
  return loadTask(makeTask(temporaryFolder(), 'colours'), []);
}

const measurement = { what: 'starter' as const, mean: 0.7, spread: 0.01, seeds: 3, seconds: 1, runs: [] };

function remarksOf(changes: Partial<MeasuredHere>): string[] {
  const toWrite = 'mlab tasks baseline colours --write';
  return figureRemarks({ task: madeTask(), measurement, declaredMean: 0.5, toWrite, ...changes });
}

test('a mean far from that of task.yaml causes a remark, with the command that writes it', () => {
  expect(remarksOf({})).toEqual([
    'The starter no longer scores what task.yaml says (baseline.mean: 0.5); measured was 0.7, 20 spreads away. If it ' +
      'was changed on purpose: mlab tasks baseline colours --write',
  ]);
  expect(remarksOf({ declaredMean: 0.7 })).toEqual([]);
});

test('after figures are written, the remark says only what has changed', () => {
  expect(remarksOf({ toWrite: null })).toEqual([
    'task.yaml said baseline.mean: 0.5; it now has the measured 0.7, 20 spreads away.',
  ]);
  expect(remarksOf({ toWrite: null, declaredMean: null })).toEqual([]);
});

test('a baseline with a spread above the success threshold causes a remark, unless it has a remedy', () => {
  const noisy = { ...measurement, spread: 0.08 };
  expect(remarksOf({ measurement: noisy, declaredMean: null })).toEqual([
    expect.stringMatching(
      /^The spread \(0\.08\) is more than the success threshold \(10 % of the mean, 0\.7\)/,
    ),
  ]);
  const task = madeTask();
  const baseline = { ...task.file.baseline, remedy: 'means of ten draws' };
  const remedied = { ...task, file: { ...task.file, baseline } };
  expect(remarksOf({ measurement: noisy, declaredMean: null, task: remedied })).toEqual([]);
  expect(remarksOf({ measurement: { ...noisy, what: 'solution' }, declaredMean: null })).toEqual([]);
});

test('a script that was mostly kept from the processor causes a remark, one that was short or busy none', () => {
  const remarks = (...times: [seconds: number, cpuSeconds: number | null][]) => {
    const runs = times.map(([seconds, cpuSeconds], seed) => ({ seed, score: 0.7, seconds, cpuSeconds }));
    return remarksOf({ measurement: { ...measurement, seconds: 9, runs }, declaredMean: null });
  };
  expect(remarks([9, 4], [9, 3], [9, 8])).toEqual([
    expect.stringMatching(/less than half of its time \(9 s\)/),
  ]);
  expect(remarks([9, 4], [9, 8], [9, 8])).toEqual([]);
  expect(remarks([0.5, 0.1])).toEqual([]);
  expect(remarks([9, null], [4, 7])).toEqual([]);
});
