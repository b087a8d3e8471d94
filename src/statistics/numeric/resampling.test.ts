import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { interquartileMean, mean } from '../summary.ts';
import { bootstrapInterval, resampleInterquartileMean } from './bootstrap.ts';
import { Exchanges, meanDifference, permutationTest, scaledRanks } from './permutation.ts';
import { randomOf } from './random.ts';
import { normalDraws } from './test-support.ts';

const numbers = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 2, maxLength: 12 });

describe('bootstrap samples', () => {
  it('do not depend on the order of the values, and are the same as when each value is drawn singly', () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const samples = resampleInterquartileMean([values], 20, randomOf('same draws'));
        expect(resampleInterquartileMean([values.toReversed()], 20, randomOf('same draws'))).toEqual(samples);
        const random = randomOf('same draws');
        const sorted = values.toSorted((a, b) => a - b);
        for (let sample = 0; sample < 20; sample += 1) {
          const drawn = values.map(() => sorted[random(values.length)] ?? Number.NaN);
          expect(samples[sample]).toBeCloseTo(interquartileMean(drawn), 9);
        }
      }),
    );
  });

  it('that are all equal give no interval', () => {
    const values = [Array(8).fill(0.7)];
    const samples = resampleInterquartileMean(values, 100, randomOf('equal'));
    expect(bootstrapInterval(samples, [8], 0.95)).toBeNull();
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

  it('give no interval for few values, nor if a stratum has a single one', () => {
    const samples = Float64Array.of(1, 2);
    expect(bootstrapInterval(samples, [3, 3, 3], 0.95)).not.toBeNull();
    expect(bootstrapInterval(samples, [5], 0.95)).toBeNull();
    expect(bootstrapInterval(samples, [8, 2], 0.95)).toBeNull();
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
    const draw = normalDraws('alike');
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
