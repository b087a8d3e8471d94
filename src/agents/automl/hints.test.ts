import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleLesson } from '../../../test/fixtures/experience.ts';
import type { Lesson } from '../../schema/index.ts';
import { hintFor, hintForRewrite } from './hints.ts';
import { findKnobs } from './knobs.ts';

function rewrite(name: string, better: number, tries: number, similarity = 0.6): Lesson {
  return exampleLesson({ change: { kind: 'rewrite', name, text: name }, better, tries, similarity });
}

test('a change that helped more often than others has a higher factor, and one that did not a lower one', () => {
  const lessons = [rewrite('a', 3, 5), rewrite('b', 0, 5), rewrite('c', 1, 5), rewrite('d', 1, 5)];
  const factors = ['a', 'b', 'c', 'unheard of'].map((name) => hintForRewrite(name, lessons).factor);
  const [better = 0, worse = 1, average = 1, unknown] = factors;
  expect(better).toBeGreaterThan(1.2);
  expect(worse).toBeLessThan(0.8);
  expect(average).toBeLessThan(better);
  expect(unknown).toBe(1);
  expect(hintForRewrite('a', lessons).tasks).toEqual(['diabetes']);
});

test('tried changes are not ranked below untried ones just because most tries do not help', () => {
  const lessons = ['a', 'b', 'c', 'd'].map((name) => rewrite(name, 1, 10));
  expect(hintForRewrite('a', lessons).factor).toBeGreaterThan(0.8);
});

test('lessons of similar tasks count more, and the factor stays between one half and two', () => {
  const others = Array.from({ length: 20 }, (_, place) => rewrite(`other ${place}`, Number(place < 5), 1));
  const near = hintForRewrite('a', [rewrite('a', 1, 1, 0.9), ...others]).factor;
  const far = hintForRewrite('a', [rewrite('a', 1, 1, 0.3), ...others]).factor;
  expect(near).toBeGreaterThan(far);
  const any = fc.record({
    name: fc.constantFrom('a', 'b'),
    better: fc.nat(5),
    more: fc.nat(5),
    similarity: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(any), (made) => {
      const lessons = made.map(({ name, better, more, similarity }) =>
        rewrite(name, better, Math.max(1, better + more), similarity),
      );
      const { factor } = hintForRewrite('a', lessons);
      expect(factor).toBeGreaterThanOrEqual(0.5);
      expect(factor).toBeLessThanOrEqual(2);
    }),
  );
});

test('a number is identified by its kind, and moves in the direction that helped', () => {
  const [knob] = findKnobs('lr = 0.1\n');
  if (knob === undefined) throw new Error('no number was found');
  const down = exampleLesson();
  expect(hintFor(knob, [down])).toMatchObject({ direction: -1, tasks: ['diabetes'] });
  expect(hintFor(knob, [rewrite('a', 1, 1)])).toEqual({ factor: 1, direction: null, tasks: [] });
});
