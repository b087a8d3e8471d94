import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalDraws } from '../numeric/test-support.ts';
import { sampleStandardDeviation } from '../summary.ts';
import { reproductionOf } from './reproduction.ts';

describe('a reproduction', () => {
  test('is exact if the scores are equal, whatever the spread', () => {
    expect(reproductionOf(0.9, [0.9], { spread: null, seeds: null })).toEqual({
      verdict: 'reproduced',
      noise: null,
    });
    expect(reproductionOf(0.9, [0.9, 0.9], { spread: 0, seeds: 3 })).toEqual({
      verdict: 'reproduced',
      noise: 0,
    });
  });

  test('is within noise as far as chance may take a score, with a spread known from few seeds', () => {
    // 2.7764 · 0.01 · √2 = 0.03926
    expect(reproductionOf(0.9, [0.861], { spread: 0.01, seeds: 5 }).verdict).toBe('within_noise');
    expect(reproductionOf(0.9, [0.8605], { spread: 0.01, seeds: 5 }).verdict).toBe('not_reproduced');
    for (const seeds of [null, 1])
      expect(reproductionOf(0.9, [0.8999], { spread: 0.01, seeds }).noise).toBeNull();
  });

  test.each([3, 5, 10])('is not denied more than 5 of 100 honest runs, with %d seeds', (seeds) => {
    const draw = normalDraws(`reproductions ${seeds}`);
    const runs = Array.from({ length: 4_000 }, () => {
      const starter = sampleStandardDeviation(Array.from({ length: seeds }, draw));
      return reproductionOf(draw(), [draw()], { spread: starter, seeds }).verdict;
    });
    const denied = runs.filter((verdict) => verdict === 'not_reproduced').length / runs.length;
    expect(denied).toBeGreaterThan(0.035);
    expect(denied).toBeLessThan(0.065);
  });

  test('uses the spread of three or more new scores if it is larger', () => {
    const starter = { spread: 0.01, seeds: 10 };
    expect(reproductionOf(0.9, [0.7, 0.8], starter).verdict).toBe('not_reproduced');
    expect(reproductionOf(0.9, [0.7, 0.8, 0.95], starter).verdict).toBe('within_noise');
  });

  test('does not depend on unit or sign of the scores', () => {
    const score = fc.double({ min: 0.1, max: 10, noNaN: true });
    fc.assert(
      fc.property(score, fc.array(score, { minLength: 1, maxLength: 5 }), score, (old, scores, spread) => {
        // A power of two changes no digit of the binary numbers.
        const scaled = reproductionOf(
          -4 * old,
          scores.map((one) => -4 * one),
          { spread: 4 * spread, seeds: 3 },
        );
        expect(scaled.verdict).toBe(reproductionOf(old, scores, { spread, seeds: 3 }).verdict);
      }),
    );
  });
});
