import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PackIndex } from './pack-index.ts';

test('finds every pack with a prefix, and no other', () => {
  const prefix = fc.oneof(fc.nat({ max: 2 ** 32 - 1 }), fc.nat({ max: 5 }));
  const packs = fc.array(fc.uniqueArray(prefix, { maxLength: 2_000 }), { maxLength: 8 });
  fc.assert(
    fc.property(packs, prefix, (all, other) => {
      const index = new PackIndex<number>();
      for (const [pack, prefixes] of all.entries()) index.add(pack, prefixes);
      expect(index.size).toBe(all.flat().length);
      for (const wanted of [...all.flat().slice(-300), other]) {
        const having = all.flatMap((prefixes, pack) => (prefixes.includes(wanted) ? [pack] : []));
        expect([...index.packsWith(wanted)].sort()).toEqual(having);
      }
    }),
    { numRuns: 30 },
  );
});
