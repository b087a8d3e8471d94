import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reproductionOf } from './reproduction.ts';

describe('a reproduction', () => {
  test('is exact if the scores are equal, whatever the spread', () => {
    expect(reproductionOf(0.9, [0.9], null)).toEqual({ verdict: 'reproduced', noise: null });
    expect(reproductionOf(0.9, [0.9, 0.9], 0)).toEqual({ verdict: 'reproduced', noise: 0 });
  });

  test('is within noise up to twice the deviation of a difference', () => {
    // 2 · 0.01 · √2 = 0.0283
    expect(reproductionOf(0.9, [0.872], 0.01).verdict).toBe('within_noise');
    expect(reproductionOf(0.9, [0.871], 0.01).verdict).toBe('not_reproduced');
    expect(reproductionOf(0.9, [0.8999], null).verdict).toBe('not_reproduced');
  });

  test('uses the spread of three or more new scores if it is larger', () => {
    expect(reproductionOf(0.9, [0.7, 0.8], 0.01).verdict).toBe('not_reproduced');
    expect(reproductionOf(0.9, [0.7, 0.8, 0.95], 0.01).verdict).toBe('within_noise');
  });

  test('does not depend on unit or sign of the scores', () => {
    const score = fc.double({ min: 0.1, max: 10, noNaN: true });
    fc.assert(
      fc.property(score, fc.array(score, { minLength: 1, maxLength: 5 }), score, (old, scores, spread) => {
        // A power of two changes no digit of the binary numbers.
        const scaled = reproductionOf(
          -4 * old,
          scores.map((one) => -4 * one),
          4 * spread,
        );
        expect(scaled.verdict).toBe(reproductionOf(old, scores, spread).verdict);
      }),
    );
  });
});
