import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalCdf, studentQuantile } from './distributions.ts';
import { isOnFrontier } from './frontier.ts';
import { holm } from './holm.ts';
import { kendallTauB } from './kendall.ts';
import { passAtK } from './pass-at-k.ts';
import { randomOf } from './random.ts';
import { heightsAt, meanHeight } from './step-curve.ts';

const share = fc.double({ min: 0, max: 1, noNaN: true });

/** All choices of so many items. */
function choices<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) =>
    choices(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]),
  );
}

describe('distributions', () => {
  it('have the values of published tables', () => {
    expect(studentQuantile(0.975, 1)).toBeCloseTo(12.7062047, 6);
    expect(studentQuantile(0.975, 2)).toBeCloseTo(4.3026527, 6);
    expect(studentQuantile(0.95, 9)).toBeCloseTo(1.8331129, 6);
    expect(studentQuantile(0.975, 1000)).toBeCloseTo(1.9623391, 6);
    expect(normalCdf(1.959963984540054)).toBeCloseTo(0.975, 12);
    expect([normalCdf(0), normalCdf(40), normalCdf(-40)]).toEqual([0.5, 1, 0]);
  });
});

describe("quantiles of Student's distribution", () => {
  it('continue smoothly where a series replaces the sum, and take bounded time for any degrees of freedom', () => {
    expect(studentQuantile(0.975, 1001)).toBeCloseTo(studentQuantile(0.975, 1000), 5);
    expect(studentQuantile(0.975, 1001)).toBeLessThan(studentQuantile(0.975, 1000));
    expect(studentQuantile(0.975, 10_000)).toBeCloseTo(1.9602012, 6);
    expect(studentQuantile(0.975, Number.MAX_SAFE_INTEGER)).toBeCloseTo(1.959963984540054, 10);
  });
});

describe('random numbers', () => {
  it('are determined by their text, and differ between similar texts', () => {
    const draws = (text: string) => Array.from({ length: 20 }, randomOf(text).bind(null, 1000));
    expect(draws('digits')).toEqual(draws('digits'));
    expect(draws('digits')).not.toEqual(draws('digitt'));
  });

  it('are spread evenly', () => {
    const random = randomOf('even');
    const counts = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 100_000; draw += 1) {
      const value = random(10);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    const chiSquare = counts.reduce((sum, count) => sum + (count - 10_000) ** 2 / 10_000, 0);
    // The 99.9 % quantile of chi-square with 9 degrees of freedom.
    expect(chiSquare).toBeLessThan(27.88);
  });
});

describe("Holm's correction", () => {
  it('gives the same result as a closed test of every group of hypotheses', () => {
    // Closed testing with Bonferroni's test of each group, of which Holm's is the short cut.
    const closed = (values: readonly number[]) =>
      values.map((_, index) => {
        const places = values.map((_value, place) => place);
        const groups = places
          .flatMap((size) => choices(places, size + 1))
          .filter((group) => group.includes(index));
        return Math.max(
          ...groups.map((group) =>
            Math.min(1, group.length * Math.min(...group.map((place) => values[place] ?? 1))),
          ),
        );
      });
    fc.assert(
      fc.property(fc.array(share, { minLength: 1, maxLength: 6 }), (values) => {
        holm(values).forEach((value, index) => {
          expect(value).toBeCloseTo(closed(values)[index] ?? Number.NaN, 12);
        });
      }),
    );
  });

  it('of no p-values is empty', () => {
    expect(holm([])).toEqual([]);
  });
});

describe('pass@k', () => {
  it('is the share of all choices of k runs that contain a success', () => {
    const runsAndK = fc
      .array(fc.boolean(), { minLength: 1, maxLength: 9 })
      .chain((runs) => fc.tuple(fc.constant(runs), fc.integer({ min: 1, max: runs.length })));
    fc.assert(
      fc.property(runsAndK, ([runs, k]) => {
        const all = choices(runs, k);
        const passed = all.filter((chosen) => chosen.some(Boolean)).length / all.length;
        expect(passAtK(runs.length, runs.filter(Boolean).length, k)).toBeCloseTo(passed, 12);
      }),
    );
  });

  it('is null for fewer than k runs, and finite for thousands', () => {
    expect(passAtK(3, 3, 4)).toBeNull();
    expect(passAtK(10_000, 1, 5000)).toBeCloseTo(0.5, 9);
  });
});

describe("Kendall's tau-b", () => {
  const pairs = fc.array(fc.tuple(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: 5 })), {
    minLength: 2,
    maxLength: 20,
  });

  it('is 1 for the same order, −1 for the reverse, and null if one side never varies', () => {
    expect(
      kendallTauB([
        [1, 10],
        [2, 20],
        [3, 30],
      ]),
    ).toBe(1);
    expect(
      kendallTauB([
        [1, 30],
        [2, 20],
        [3, 10],
      ]),
    ).toBe(-1);
    expect(
      kendallTauB([
        [1, 5],
        [2, 5],
      ]),
    ).toBeNull();
    expect(kendallTauB([])).toBeNull();
  });

  it('changes only its sign when one side is reversed, and does not change when one is scaled', () => {
    fc.assert(
      fc.property(pairs, (ranking) => {
        const tau = kendallTauB(ranking);
        if (tau === null) return;
        expect(Math.abs(tau)).toBeLessThanOrEqual(1 + 1e-12);
        expect(kendallTauB(ranking.map(([x, y]) => [x, -y]))).toBeCloseTo(-tau, 12);
        expect(kendallTauB(ranking.map(([x, y]) => [Math.exp(x), y]))).toBeCloseTo(tau, 12);
      }),
    );
  });
});

describe('a step curve', () => {
  const points = [
    { at: 2, value: 1 },
    { at: 4, value: 0.5 },
  ];

  it('holds each value until the next', () => {
    expect(heightsAt(points, [0, 1.9, 2, 3, 4, 9], 0)).toEqual([0, 0, 1, 1, 0.5, 0.5]);
  });

  it('has the mean height of its area up to the given end', () => {
    expect(meanHeight(points, 8, 0)).toBeCloseTo((2 * 0 + 2 * 1 + 4 * 0.5) / 8, 12);
    expect(meanHeight(points, 3, 0)).toBeCloseTo(1 / 3, 12);
    expect(meanHeight(points, 1, -1)).toBe(-1);
    expect(meanHeight([{ at: 0, value: 2 }], 0, 0)).toBe(2);
  });

  it('has a mean height between its lowest and its highest', () => {
    const curve = fc
      .array(fc.record({ at: fc.nat(20), value: fc.double({ min: -5, max: 5, noNaN: true }) }), {
        minLength: 1,
      })
      .map((some) => some.toSorted((one, other) => one.at - other.at));
    fc.assert(
      fc.property(curve, fc.integer({ min: 1, max: 30 }), (some, end) => {
        const values = [0, ...some.map(({ value }) => value)];
        const height = meanHeight(some, end, 0);
        expect(height).toBeGreaterThanOrEqual(Math.min(...values) - 1e-9);
        expect(height).toBeLessThanOrEqual(Math.max(...values) + 1e-9);
        // The area is the sum of the heights in each unit, for points at whole positions.
        const units = Array.from({ length: end }, (_, index) => index);
        const area = heightsAt(some, units, 0).reduce((sum, value) => sum + value, 0);
        expect(height * end).toBeCloseTo(area, 9);
      }),
    );
  });
});

describe('the frontier', () => {
  it('contains the cheapest of the best, and nothing that another one beats', () => {
    const offer = fc.record({ cost: fc.nat(5), success: fc.nat(5) });
    fc.assert(
      fc.property(fc.array(offer, { minLength: 1, maxLength: 12 }), (offers) => {
        const kept = offers.filter((one) => isOnFrontier(one, offers));
        const best = Math.max(...offers.map(({ success }) => success));
        const cheapest = Math.min(
          ...offers.filter(({ success }) => success === best).map(({ cost }) => cost),
        );
        expect(kept).toContainEqual({ cost: cheapest, success: best });
        // Along the frontier, a higher cost means more success.
        for (const one of kept)
          for (const other of kept)
            if (one.cost > other.cost) expect(one.success).toBeGreaterThan(other.success);
        // Anything that is not on the frontier is beaten by something on it.
        for (const one of offers)
          expect(kept.some(({ cost, success }) => cost <= one.cost && success >= one.success)).toBe(true);
      }),
    );
  });
});
