import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type ReportAttempt, SearchStatus } from '../../../src/schema/index.ts';
import { attemptFrame, pathToFinal, placesOf } from './attempt-layout.ts';

const plain: ReportAttempt = {
  ...{
    id: 0,
    parent: null,
    operator: 'tune',
    status: 'kept',
    change: '',
    score: 1,
    cost: 0.01,
    is_final: false,
  },
};
const anyAttempts = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(30)),
      status: fc.constantFrom(...SearchStatus.options),
      score: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
      is_final: fc.boolean(),
    }),
    { minLength: 1, maxLength: 30 },
  )
  .map((list) => list.map((changes, id) => ({ ...plain, ...changes, id })));

test('every attempt has a place in the drawing, whatever its score, and the path to the chosen one ends', () => {
  fc.assert(
    fc.property(anyAttempts, (attempts) => {
      const { of } = placesOf(attempts);
      for (const { x, y } of attempts.map(of)) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x).toBeLessThanOrEqual(attemptFrame.width);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(y).toBeLessThanOrEqual(attemptFrame.height);
      }
      expect(pathToFinal(attempts).size).toBeLessThanOrEqual(attempts.length);
    }),
  );
});

test('a version that failed on the way is at the edge, and does not press the others together', () => {
  const scores = [10, 8, 1e9, 7];
  const attempts = scores.map((score, id) => ({
    ...{ ...plain, id, score },
    status: score > 100 ? ('dropped' as const) : ('kept' as const),
  }));
  const [first, second, far] = attempts.map(placesOf(attempts).of);
  expect(far?.y).toBe(attemptFrame.top);
  expect((second?.y ?? 0) - (first?.y ?? 0)).toBeGreaterThan(50);
});

test('the path leads from the chosen version over those that it was made from', () => {
  const parents = [null, 0, 0, 2, 1];
  const attempts = parents.map((parent, id) => ({ ...plain, id, parent, is_final: id === 3 }));
  expect([...pathToFinal(attempts)]).toEqual([3, 2, 0]);
});
