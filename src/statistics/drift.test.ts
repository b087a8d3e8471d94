import { expect, test } from 'vitest';
import { driftInSpreads, figuresOf } from './drift.ts';

test('means that differ only by rounding agree, also if nothing varies', () => {
  expect(driftInSpreads({ mean: 0.9875, spread: 0 }, { mean: 0.98745, spread: 0 })).toBe(0);
  expect(driftInSpreads({ mean: 0, spread: 0 }, { mean: 0, spread: 0 })).toBe(0);
});

test('a difference is measured in the larger of the two spreads', () => {
  expect(driftInSpreads({ mean: 10, spread: 1 }, { mean: 14, spread: 2 })).toBe(2);
  expect(driftInSpreads({ mean: 10, spread: 2 }, { mean: 14, spread: 1 })).toBe(2);
});

test('a difference is infinite if nothing varies', () => {
  expect(driftInSpreads({ mean: 0.5, spread: 0 }, { mean: 0.6, spread: 0 })).toBe(Number.POSITIVE_INFINITY);
});

test('equal scores have no spread, whatever the rounding of their sum leaves', () => {
  const score = 0.7;
  expect(figuresOf([score, score, score]).spread).toBe(0);
  expect(figuresOf([1, 2, 3])).toEqual({ mean: 2, spread: 1 });
  const declared = { mean: 10, spread: 4.35117e-15 };
  expect(driftInSpreads(declared, { mean: 14, spread: 1.36e-16 })).toBe(Number.POSITIVE_INFINITY);
});
