import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Interval, wilsonInterval } from '../summary.ts';
import { bootstrapInterval, resampleInterquartileMean } from './bootstrap.ts';
import { meanDifferenceInterval, meanInterval, medianInterval } from './mean-intervals.ts';
import { randomOf } from './random.ts';
import { type Counted, meanRateInterval, rateDifferenceInterval } from './rate-intervals.ts';
import { normalDraws } from './test-support.ts';

const trials = 2000;

/** In what share of the trials the interval holds the true value. */
function coverage(truth: number, intervalOf: () => Interval | null): number {
  let held = 0;
  for (let trial = 0; trial < trials; trial += 1) {
    const interval = intervalOf();
    if (interval !== null && interval.low <= truth && interval.high >= truth) held += 1;
  }
  return held / trials;
}

const values = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 8 });

describe('the interval of an interquartile mean', () => {
  const draw = normalDraws('interquartile means');

  it.each([
    { tasks: 1, of: 8 },
    { tasks: 3, of: 3 },
    { tasks: 6, of: 3 },
  ])('of $tasks tasks with $of runs each holds the true one in about 95 of 100 cases', ({ tasks, of }) => {
    const sizes = Array.from({ length: tasks }, () => of);
    const share = coverage(0, () => {
      const strata = sizes.map((size) => Array.from({ length: size }, draw));
      return bootstrapInterval(resampleInterquartileMean(strata, 1000, randomOf('samples')), sizes, 0.95);
    });
    expect(share).toBeGreaterThan(0.92);
    expect(share).toBeLessThan(0.99);
  });
});

describe('the interval of a mean', () => {
  const draw = normalDraws('means');
  const runs = (count: number, spread = 1) => Array.from({ length: count }, () => spread * draw());

  it.each([
    { tasks: 1, of: 2 },
    { tasks: 1, of: 3 },
    { tasks: 3, of: 2 },
    { tasks: 3, of: 3 },
    { tasks: 10, of: 2 },
  ])('of $tasks tasks with $of runs each holds the true mean in about 95 of 100 cases', ({ tasks, of }) => {
    const share = coverage(0, () =>
      meanInterval(
        Array.from({ length: tasks }, () => runs(of)),
        0.95,
      ),
    );
    expect(share).toBeGreaterThan(0.93);
    expect(share).toBeLessThan(0.995);
  });

  it('does so also for differences, and where tasks differ in their noise', () => {
    const sides = () => [1, 2, 5].map((spread) => runs(4, spread));
    expect(coverage(0, () => meanDifferenceInterval(sides(), sides(), 0.95))).toBeGreaterThan(0.93);
  });

  it('lies around the mean, and shifts and scales with the values', () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const [plain, moved] = [
          meanInterval([one, other], 0.95),
          meanInterval(
            [one, other].map((list) => list.map((value) => 3 * value + 7)),
            0.95,
          ),
        ];
        fc.pre(plain !== null && moved !== null);
        expect(moved?.low).toBeCloseTo(3 * (plain?.low ?? Number.NaN) + 7, 6);
        expect(moved?.high).toBeCloseTo(3 * (plain?.high ?? Number.NaN) + 7, 6);
      }),
    );
  });

  it('is null if a task has a single run, or an infinite value', () => {
    expect(meanInterval([[1, 2], [3]], 0.95)).toBeNull();
    expect(meanInterval([], 0.95)).toBeNull();
    expect(meanInterval([[1, Number.POSITIVE_INFINITY]], 0.95)).toBeNull();
  });

  it('is null if nothing varies: equal runs do not show how much chance could do', () => {
    expect(meanInterval([[0, 0, 0]], 0.95)).toBeNull();
    // The mean of many equal values is not quite one of them, by the rounding of their sum.
    for (let value = 1; value < 100; value += 1)
      for (const runs of [3, 5, 8]) expect(meanInterval([Array(runs).fill(value / 100)], 0.95)).toBeNull();
    expect(meanDifferenceInterval([[0.9, 0.9, 0.9]], [[0, 0, 0]], 0.95)).toBeNull();
    expect(
      meanInterval(
        [
          [0, 0, 0],
          [0.8, 0.9, 0.7],
        ],
        0.95,
      ),
    ).not.toBeNull();
  });
});

describe('the interval of a median', () => {
  it('is between two of at least six values, and null for fewer', () => {
    expect(medianInterval([5, 3, 1, 2, 4], 0.95)).toBeNull();
    expect(medianInterval([5, 3, 1, 2, 4, 6], 0.95)).toEqual({ low: 1, high: 6 });
    // Hahn & Meeker 1991, table A.15: of ten, the second and the ninth.
    expect(medianInterval([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], 0.95)).toEqual({ low: 2, high: 9 });
  });

  it('is found of thousands of values', () => {
    // By scipy.stats.binom.
    for (const [count, low, high] of [
      [1000, 468, 531],
      [1074, 504, 569],
      [1075, 504, 570],
      [10_000, 4901, 5098],
    ] as const)
      expect(medianInterval([...Array(count).keys()], 0.95), `${count}`).toEqual({ low, high });
  });

  it('holds the true median in at least 95 of 100 cases', () => {
    const draw = normalDraws('medians');
    const lists = () => Array.from({ length: 9 }, () => draw() ** 3);
    expect(coverage(0, () => medianInterval(lists(), 0.95))).toBeGreaterThan(0.945);
  });
});

describe('intervals of rates', () => {
  it('of one task are those of Wilson and Newcombe', () => {
    const [interval, wilson] = [meanRateInterval([{ successes: 3, runs: 8 }]), wilsonInterval(3, 8)];
    expect(interval.low).toBeCloseTo(wilson.low, 12);
    expect(interval.high).toBeCloseTo(wilson.high, 12);
    // Newcombe 1998, table II, example (a), method 10: 56 of 70 less 48 of 80.
    const difference = rateDifferenceInterval([{ successes: 56, runs: 70 }], [{ successes: 48, runs: 80 }]);
    expect(difference.low).toBeCloseTo(0.0524, 4);
    expect(difference.high).toBeCloseTo(0.3339, 4);
  });

  it('have a width even if all runs had the same result, as if one task had all the runs', () => {
    const none = { successes: 0, runs: 4 };
    expect(meanRateInterval([none, none, none, none])).toEqual(wilsonInterval(0, 16));
    const all = { successes: 4, runs: 4 };
    expect(meanRateInterval([all, all, all])).toEqual(wilsonInterval(12, 12));
  });

  it.each([
    { tasks: 15, of: 3, rate: 0.1 },
    { tasks: 20, of: 2, rate: 0.2 },
    { tasks: 21, of: 5, rate: 0.9 },
    { tasks: 30, of: 1, rate: 0.5 },
  ])('of $tasks tasks with $of runs each hold the true mean in about 95 of 100 cases', (given) => {
    const random = randomOf(JSON.stringify(given));
    const task = (rate: number): Counted => ({
      runs: given.of,
      successes: Array.from({ length: given.of }, () => random(1000) < 1000 * rate).filter(Boolean).length,
    });
    const side = (rate: number) => Array.from({ length: given.tasks }, () => task(rate));
    const share = coverage(given.rate, () => meanRateInterval(side(given.rate)));
    expect(share).toBeGreaterThan(0.92);
    expect(share).toBeLessThan(0.98);
    const other = given.rate / 2;
    const ofDifference = coverage(given.rate - other, () =>
      rateDifferenceInterval(side(given.rate), side(other)),
    );
    expect(ofDifference).toBeGreaterThan(0.92);
  });

  it('of a difference change sign when the sides are exchanged', () => {
    const counted = fc
      .tuple(fc.integer({ min: 1, max: 30 }), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([runs, rate]) => ({ runs, successes: Math.round(runs * rate) }));
    fc.assert(
      fc.property(fc.array(fc.tuple(counted, counted), { minLength: 1, maxLength: 5 }), (tasks) => {
        const [a, b] = [tasks.map(([one]) => one), tasks.map(([, other]) => other)];
        const forth = rateDifferenceInterval(a, b);
        const back = rateDifferenceInterval(b, a);
        expect(forth.low).toBeCloseTo(-back.high, 12);
        expect(forth.high).toBeCloseTo(-back.low, 12);
        expect(forth.low).toBeGreaterThanOrEqual(-1 - 1e-9);
      }),
    );
  });
});
