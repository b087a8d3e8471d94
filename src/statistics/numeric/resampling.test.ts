import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interquartileMean, mean, median, quantileOfSorted } from '../summary.ts';
import { bootstrapInterval, resample, resampleInterquartileMean } from './bootstrap.ts';
import { Exchanges, meanDifference, permutationTest, scaledRanks } from './permutation.ts';
import { randomOf } from './random.ts';

const numbers = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 12 });

/** Nearly normal numbers: sums of twelve uniform ones. */
function normal(text: string): () => number {
  const random = randomOf(text);
  return () => {
    let sum = -6;
    for (let part = 0; part < 12; part += 1) sum += random(1e6) / 1e6;
    return sum;
  };
}

describe('bootstrap samples', () => {
  it('do not depend on the order of the values', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const one = resample(values, 50, randomOf('order'));
        expect(resample(values.toReversed(), 50, randomOf('order'))).toEqual(one);
      }),
    );
  });

  it('are the same as when each value is drawn singly', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const { mean: means, median: medians } = resample(values, 20, randomOf('same draws'));
        const iqm = resampleInterquartileMean([values], 20, randomOf('same draws'));
        const random = randomOf('same draws');
        const sorted = values.toSorted((a, b) => a - b);
        for (let sample = 0; sample < 20; sample += 1) {
          const drawn = values.map(() => sorted[random(values.length)] ?? Number.NaN);
          expect(means[sample]).toBeCloseTo(mean(drawn), 9);
          expect(medians[sample]).toBeCloseTo(median(drawn), 9);
          expect(iqm[sample]).toBeCloseTo(interquartileMean(drawn), 9);
        }
      }),
    );
  });

  it('of strata keep the number of values of each stratum', () => {
    const samples = resampleInterquartileMean(
      [
        [0, 0, 0, 0],
        [1, 1, 1, 1],
      ],
      30,
      randomOf('strata'),
    );
    expect(new Set(samples)).toEqual(new Set([0.5]));
  });
});

describe('a bootstrap interval', () => {
  const intervalOf = (values: readonly number[], text = 'interval') =>
    bootstrapInterval(resample(values, 1000, randomOf(text)).mean, [values.length], 0.95);

  it('lies within the values, and shifts and scales with them', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const interval = intervalOf(values);
        if (interval === null) throw new Error('there are two values');
        expect(interval.low).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9);
        expect(interval.high).toBeLessThanOrEqual(Math.max(...values) + 1e-9);
        expect(interval.low).toBeLessThanOrEqual(interval.high);
        const moved = intervalOf(values.map((value) => 3 * value + 7));
        expect(moved?.low).toBeCloseTo(3 * interval.low + 7, 6);
        expect(moved?.high).toBeCloseTo(3 * interval.high + 7, 6);
      }),
      { numRuns: 40 },
    );
  });

  it('is null if a stratum has a single value', () => {
    expect(bootstrapInterval(Float64Array.of(1, 2), [8, 1], 0.95)).toBeNull();
    expect(bootstrapInterval(Float64Array.of(), [], 0.95)).toBeNull();
  });

  it('contains the mean of few normal numbers more often than a plain percentile interval', () => {
    const heldBy = (size: number) => {
      const draw = normal(`coverage ${size}`);
      const held = { expanded: 0, plain: 0 };
      for (let trial = 0; trial < 1000; trial += 1) {
        const values = Array.from({ length: size }, draw);
        const means = resample(values, 400, randomOf(`trial ${trial}`)).mean;
        const sorted = means.toSorted();
        const expanded = bootstrapInterval(means, [size], 0.95);
        if (expanded !== null && expanded.low <= 0 && expanded.high >= 0) held.expanded += 1;
        if (quantileOfSorted(sorted, 0.025) <= 0 && quantileOfSorted(sorted, 0.975) >= 0) held.plain += 1;
      }
      return { expanded: held.expanded / 1000, plain: held.plain / 1000 };
    };
    const [five, ten] = [heldBy(5), heldBy(10)];
    // No interval within five values contains the true median more often than 1 − 2 / 2⁵ = 94 %.
    expect(five.plain).toBeLessThan(0.86);
    expect(five.expanded).toBeGreaterThan(0.9);
    expect(ten.plain).toBeLessThan(0.92);
    expect(ten.expanded).toBeGreaterThan(0.93);
    expect(ten.expanded).toBeLessThan(0.97);
  });
});

describe('a permutation test', () => {
  it('gives the exact probability for two groups that do not overlap', () => {
    const apart = [{ a: [1, 1, 1, 1], b: [0, 0, 0, 0] }];
    // 2 of the 70 ways to choose 4 of 8.
    expect(permutationTest(apart, new Exchanges(20_000))).toBeCloseTo(2 / 70, 2);
    const twice = [...apart, ...apart];
    expect(permutationTest(twice, new Exchanges(20_000))).toBeCloseTo(2 / 70 ** 2, 2);
  });

  it('works with one run per side and task, by exchanging the two', () => {
    const tasks = Array.from({ length: 6 }, (_, index) => ({ a: [index + 2], b: [index] }));
    expect(permutationTest(tasks, new Exchanges(20_000))).toBeCloseTo(2 / 2 ** 6, 2);
  });

  it('is 1 if nothing differs, and never 0', () => {
    expect(permutationTest([{ a: [1, 1], b: [1, 1, 1] }], new Exchanges(200))).toBe(1);
    const many = { a: Array.from({ length: 40 }, () => 1), b: Array.from({ length: 40 }, () => 0) };
    expect(permutationTest([many], new Exchanges(200))).toBe(1 / 201);
  });

  it('gives the same for both orders of the sides, except for chance', () => {
    const stratum = { a: [3, 1, 4, 1, 5], b: [9, 2, 6] };
    const forth = permutationTest([stratum], new Exchanges(20_000));
    const back = permutationTest([{ a: stratum.b, b: stratum.a }], new Exchanges(20_000));
    expect(Math.abs(forth - back)).toBeLessThan(0.15 * forth);
  });

  it('has about the stated rate of false positives', () => {
    const draw = normal('alike');
    let called = 0;
    for (let trial = 0; trial < 500; trial += 1) {
      const group = () => Array.from({ length: 5 }, draw);
      const p = permutationTest([{ a: group(), b: group() }], new Exchanges(400));
      if (p < 0.05) called += 1;
    }
    expect(called / 500).toBeLessThan(0.08);
    expect(called / 500).toBeGreaterThan(0.02);
  });
});

describe('scaled ranks', () => {
  it("differ by Cliff's delta, also with ties and infinite values", () => {
    const value = fc.oneof(fc.integer({ min: 0, max: 4 }), fc.constant(Number.NEGATIVE_INFINITY));
    const side = fc.array(value, { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(side, side, (a, b) => {
        const wins = a.flatMap((one) => b.map((other) => Number(one > other) - Number(one < other)));
        expect(meanDifference([scaledRanks({ a, b })])).toBeCloseTo(mean(wins), 12);
      }),
    );
  });
});
