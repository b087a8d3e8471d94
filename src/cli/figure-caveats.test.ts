import { expect, test } from 'vitest';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { loadTask } from '../tasks/index.ts';
import { figureCaveats, type MeasuredHere, secondsAlone } from './figure-caveats.ts';

function madeTask() {
  return loadTask(makeTask(temporaryFolder(), 'colours'), []);
}

const measurement = { what: 'starter' as const, mean: 0.7, spread: 0.01, seeds: 3, seconds: 1, runs: [] };

function caveatsOf(changes: Partial<MeasuredHere>): string[] {
  const toWrite = 'mlab tasks baseline colours --write';
  return figureCaveats({
    task: madeTask(),
    measurement,
    declaredMean: 0.5,
    toWrite,
    usesGpu: false,
    ...changes,
  });
}

test('a mean far from that of task.yaml causes a caveat, with the command that writes it', () => {
  expect(caveatsOf({})).toEqual([
    'The starter no longer scores what task.yaml says (baseline.mean: 0.5); measured was 0.7, 20 spreads away. If it ' +
      'was changed on purpose: mlab tasks baseline colours --write',
  ]);
  expect(caveatsOf({ declaredMean: 0.7 })).toEqual([]);
});

test('after figures are written, the caveat says only what has changed', () => {
  expect(caveatsOf({ toWrite: null })).toEqual([
    'task.yaml said baseline.mean: 0.5; it now has the measured 0.7.',
  ]);
  expect(caveatsOf({ toWrite: null, declaredMean: null })).toEqual([]);
});

test('figures over one or two seeds cause a caveat where they are written', () => {
  const over = (seeds: number, toWrite: string | null = null) =>
    caveatsOf({ measurement: { ...measurement, seeds }, declaredMean: null, toWrite });
  expect([1, 2, 3].map((seeds) => over(seeds).join())).toEqual([
    expect.stringMatching(/^One seed shows no spread, .* \(default: 5\)\.$/),
    expect.stringMatching(/^Two seeds hardly show the spread/),
    '',
  ]);
  expect(over(1, 'mlab tasks baseline colours --write')).toEqual([]);
  const same = { ...measurement, seeds: 2, spread: 0 };
  expect(caveatsOf({ measurement: same, declaredMean: null, toWrite: null })).toEqual([]);
});

test('a starter whose calls are too short, or long, to be timed well causes a caveat', () => {
  const task = madeTask();
  const inSeconds = (name: string) => {
    const metric = { ...task.file.metric, name, unit: 'seconds', direction: 'minimize' as const };
    const grading = { ...task.file.grading, runs_submission: true };
    return { ...task, file: { ...task.file, metric, grading } };
  };
  const timed = inSeconds('time of one call');
  const ofMean = (mean: number, of: MeasuredHere['task'] = timed) =>
    caveatsOf({ task: of, measurement: { ...measurement, mean, spread: 0 }, declaredMean: null }).join();
  expect(ofMean(0.012)).toMatch(/^A call of the starter takes 0\.012 s, .*Choose larger inputs/);
  expect(ofMean(7.5)).toMatch(/^A call of the starter takes 7\.5 s, .*Choose smaller inputs/);
  expect([0.1, 0.4, 1].map((mean) => ofMean(mean))).toEqual(['', '', '']);
  expect([task, inSeconds('RMSE')].map((other) => ofMean(0.012, other))).toEqual(['', '']);
});

test('a baseline with a spread above the success threshold causes a caveat, unless it has a remedy', () => {
  const noisy = { ...measurement, spread: 0.08 };
  expect(caveatsOf({ measurement: noisy, declaredMean: null })).toEqual([
    expect.stringMatching(
      /^The spread \(0\.08\) is more than the success threshold \(10 % of the mean, 0\.7\)/,
    ),
  ]);
  const task = madeTask();
  const baseline = { ...task.file.baseline, remedy: 'means of ten draws' };
  const remedied = { ...task, file: { ...task.file, baseline } };
  expect(caveatsOf({ measurement: noisy, declaredMean: null, task: remedied })).toEqual([]);
  expect(caveatsOf({ measurement: { ...noisy, what: 'solution' }, declaredMean: null })).toEqual([]);
});

test('a starter that is no better than guessing causes a caveat, a trivial predictor none', () => {
  const task = madeTask();
  const metric = { ...task.file.metric, chance: 0.69, direction: 'maximize' as const };
  const told = { task: { ...task, file: { ...task.file, metric } }, declaredMean: null };
  expect(caveatsOf(told)).toEqual([
    expect.stringMatching(
      /^The starter scores 0\.7 ± 0\.01, no better than guessing \(metric\.chance: 0\.69\)/,
    ),
  ]);
  expect(caveatsOf({ ...told, measurement: { ...measurement, mean: 0.73 } })).toEqual([]);
  expect(caveatsOf({ ...told, measurement: { ...measurement, what: 'constant' } })).toEqual([]);
});

test('a script that was mostly kept from the processor causes a caveat and counts by that time, one that was short or busy not', () => {
  const measured = (...times: [seconds: number, cpuSeconds: number | null][]) => {
    const runs = times.map(([seconds, cpuSeconds], seed) => ({
      seed,
      score: 0.7,
      starterScore: null,
      seconds,
      cpuSeconds,
      printed: '',
    }));
    return { ...measurement, seconds: 9, runs };
  };
  const caveats = (...times: [seconds: number, cpuSeconds: number | null][]) =>
    caveatsOf({ measurement: measured(...times), declaredMean: null });
  expect(caveats([9, 4], [9, 3], [9, 8])).toEqual([
    expect.stringMatching(
      /^The script took 9\.0 s, and the processor only 5\.0 s of these: .*say 5\.0 s\. .*write 9 as its seconds/,
    ),
  ]);
  const waiting = measured([9, 4], [9, 3], [9, 8]);
  expect(secondsAlone({ measurement: waiting, usesGpu: false })).toBe(5);
  expect(secondsAlone({ measurement: measured([9, 4], [9, 8], [9, 8]), usesGpu: false })).toBe(9);
  expect(secondsAlone({ measurement: waiting, usesGpu: true })).toBe(9);
  expect(caveatsOf({ measurement: waiting, declaredMean: null, usesGpu: true })).toEqual([]);
  expect(caveats([9, 4], [9, 8], [9, 8])).toEqual([]);
  expect(caveats([30, 5], [5, 5])).toHaveLength(1);
  expect(caveats([0.5, 0.1])).toEqual([]);
  expect(caveats([9, null], [4, 7])).toEqual([]);
});

test('a busy machine causes a caveat about the score where the grader runs the submission', () => {
  const task = madeTask();
  const run = { seed: 0, score: 5.8, starterScore: null, seconds: 18, cpuSeconds: 1, printed: '' };
  const busy = { measurement: { ...measurement, mean: 5.8, runs: [run] }, declaredMean: null };
  expect(caveatsOf({ ...busy, task })).toEqual([expect.not.stringContaining('if the score is a time')]);
  const grading = { ...task.file.grading, runs_submission: true };
  expect(caveatsOf({ ...busy, task: { ...task, file: { ...task.file, grading } } })).toEqual([
    expect.stringMatching(/if the score is a time, measure again when nothing else runs\.$/),
  ]);
});
