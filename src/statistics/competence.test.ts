import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ScoringReference } from '../schema/index.ts';
import { baselineNoise, improvement, isSuccess, normalisedScore } from './competence.ts';

const figures = (mean: number) => ({ mean, spread: 0.01, seeds: 5 });
const scoringReference = (
  baseline: number,
  reference: number,
  direction: 'maximize' | 'minimize',
): ScoringReference => ({
  ...{ direction, threshold: 0.1, baseline: figures(baseline), reference: figures(reference), best: null },
});

describe('a success', () => {
  it('is beyond the threshold: a score that equals it is none, in whatever decimals', () => {
    const cents = fc.integer({ min: 1, max: 100_000 });
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 90 }), fc.boolean(), (baseline, percent, isUp) => {
        const direction = isUp ? 'maximize' : 'minimize';
        const at = (more: number) => {
          const score = (baseline * (100 + (isUp ? 1 : -1) * (percent + more))) / 100;
          return isSuccess(improvement(score / 100, baseline / 100, direction), percent / 100);
        };
        expect([at(-0.001), at(0), at(0.001)]).toEqual([false, false, true]);
      }),
    );
  });
});

it('an improvement or a normalised score beyond all measure is unknown: their sums and squares would overflow', () => {
  for (const score of [1e308, -1e308, 1e105]) {
    expect(improvement(score, 0.5, 'maximize')).toBeNull();
    expect(normalisedScore(score, 0.5, scoringReference(0.5, 0.9, 'maximize'))).toBeNull();
  }
});

it('an improvement of nothing is 0, without a sign', () => {
  expect(improvement(7, 7, 'minimize')).toBe(0);
  expect(normalisedScore(7, 7, scoringReference(7, 3, 'minimize'))).toBe(0);
});

describe('a normalised score', () => {
  it('is 0 at the baseline, 1 at the reference, and extrapolated beyond both', () => {
    const up = scoringReference(0.5, 0.9, 'maximize');
    const at = (score: number) => normalisedScore(score, 0.5, up);
    expect([at(0.5), at(0.7), at(0.9), at(0.4)].map((value) => value?.toFixed(6))).toEqual([
      ...['0.000000', '0.500000', '1.000000', '-0.250000'],
    ]);
    expect(normalisedScore(20, 50, scoringReference(50, 10, 'minimize'))).toBeCloseTo(0.75, 12);
  });

  it('depends neither on the unit of the score nor on the speed of the machine that timed it', () => {
    const number = fc.double({ min: 0.1, max: 1000, noNaN: true });
    fc.assert(
      fc.property(number, number, number, number, (score, baseline, reference, unit) => {
        fc.pre(Math.abs(baseline - reference) > 1e-3 * baseline);
        const plain = normalisedScore(score, baseline, scoringReference(baseline, reference, 'minimize'));
        const scaled = normalisedScore(
          score * unit,
          baseline * unit,
          scoringReference(baseline * unit, reference * unit, 'minimize'),
        );
        const elsewhere = normalisedScore(
          score * unit,
          baseline * unit,
          scoringReference(baseline, reference, 'minimize'),
        );
        if (plain === null || scaled === null || elsewhere === null) {
          expect([plain, scaled, elsewhere]).toEqual([null, null, null]);
          expect(reference).toBeGreaterThan(baseline);
          return;
        }
        const tolerance = 1e-6 * (1 + Math.abs(plain));
        expect(Math.abs(scaled - plain)).toBeLessThan(tolerance);
        expect(Math.abs(elsewhere - plain)).toBeLessThan(tolerance);
      }),
    );
  });

  it('is null without a reference that is better than the baseline', () => {
    expect(normalisedScore(0.7, 0.5, scoringReference(0.5, 0.5, 'maximize'))).toBeNull();
    expect(normalisedScore(0.7, 0.5, scoringReference(0.5, 0.4, 'maximize'))).toBeNull();
    expect(
      normalisedScore(0.7, 0.5, { ...scoringReference(0.5, 0.9, 'maximize'), reference: null }),
    ).toBeNull();
  });
});

describe("the baseline's noise", () => {
  it('is half the 95 % prediction interval for one more run of the starter, relative to its mean', () => {
    // t of 0.975 with 4 degrees of freedom is 2.776445.
    expect(baselineNoise({ mean: -2, spread: 0.1, seeds: 5 })).toBeCloseTo(
      (2.776445 * 0.1 * Math.sqrt(1.2)) / 2,
      6,
    );
  });

  it('is 0 if the baseline does not vary, and unknown if it was not measured', () => {
    expect(baselineNoise({ mean: 1, spread: 0, seeds: 1 })).toBe(0);
    expect(baselineNoise({ mean: 1, spread: 0.1, seeds: 1 })).toBeNull();
    expect(baselineNoise({ mean: 1, spread: null, seeds: null })).toBeNull();
    expect(baselineNoise({ mean: 1, spread: 0.1, seeds: null })).toBeNull();
    for (const spread of [0, 0.1]) expect(baselineNoise({ mean: 0, spread, seeds: 3 })).toBeNull();
  });
});
