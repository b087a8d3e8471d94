import fc from 'fast-check';
import { expect, test } from 'vitest';
import { indicesOf } from './indices.ts';

test('indices of an array are read in whatever way Slurm groups them', () => {
  const range = fc.tuple(fc.nat(200), fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 5 }));
  fc.assert(
    fc.property(fc.array(range, { minLength: 1 }), fc.boolean(), (ranges, limited) => {
      const expected = ranges.flatMap(([first, count, by]) =>
        Array.from({ length: count }, (_, at) => first + at * by),
      );
      const text = ranges
        .map(([first, count, by]) => {
          const last = first + (count - 1) * by;
          if (count === 1) return `${first}`;
          return by === 1 ? `${first}-${last}` : `${first}-${last}:${by}`;
        })
        .join(',');
      expect(indicesOf(limited ? `${text}%7` : text)).toEqual(expected);
    }),
  );
  expect(indicesOf('...')).toEqual([]);
});
