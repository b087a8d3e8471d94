import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { improvement, isSuccess } from './competence.ts';
import { mean, median, sampleStandardDeviation, wilsonInterval } from './summary.ts';

describe('improvement', () => {
  it('is the relative change, positive when better, for both directions', () => {
    expect(improvement(0.6, 0.5, 'maximize')).toBeCloseTo(0.2);
    expect(improvement(40, 50, 'minimize')).toBeCloseTo(0.2);
    expect(improvement(60, 50, 'minimize')).toBeCloseTo(-0.2);
  });

  it('keeps its sign for negative baselines, and is null for a baseline of 0', () => {
    expect(improvement(-1, -2, 'maximize')).toBeCloseTo(0.5);
    expect(improvement(1, 0, 'maximize')).toBeNull();
  });

  it('does not depend on the unit of the score', () => {
    const number = fc.double({ min: 0.001, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(
        number,
        number,
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (score, baseline, unit) => {
          const plain = improvement(score, baseline, 'minimize') ?? Number.NaN;
          const scaled = improvement(score * unit, baseline * unit, 'minimize') ?? Number.NaN;
          expect(scaled).toBeCloseTo(plain, 5);
        },
      ),
    );
  });

  it('counts as success only beyond the threshold', () => {
    expect(isSuccess(0.1, 0.1)).toBe(false);
    expect(isSuccess(0.1001, 0.1)).toBe(true);
    expect(isSuccess(null, 0.1)).toBe(false);
  });
});

describe('summaries', () => {
  it('give the known values of a small sample', () => {
    expect(mean([1, 2, 3, 6])).toBe(3);
    expect(median([5, 1, 3])).toBe(3);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(sampleStandardDeviation([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(2.13809, 5);
  });

  it("give Wilson's interval as in published tables", () => {
    // Newcombe 1998, table I: 81 of 263, and 0 of 20.
    expect(wilsonInterval(81, 263).low).toBeCloseTo(0.2553, 4);
    expect(wilsonInterval(81, 263).high).toBeCloseTo(0.3662, 4);
    expect(wilsonInterval(0, 20).low).toBe(0);
    expect(wilsonInterval(0, 20).high).toBeCloseTo(0.1611, 4);
  });

  it('keep the rate inside its interval and the interval inside [0, 1]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (runs, share) => {
          const successes = Math.round(runs * share);
          const { low, high } = wilsonInterval(successes, runs);
          expect(low).toBeGreaterThanOrEqual(0);
          expect(high).toBeLessThanOrEqual(1);
          expect(successes / runs).toBeGreaterThanOrEqual(low - 1e-12);
          expect(successes / runs).toBeLessThanOrEqual(high + 1e-12);
        },
      ),
    );
  });
});
