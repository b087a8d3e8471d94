import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../common/seeded-random.ts';
import { findKnobs } from './knobs.ts';
import { CoordinateSearch } from './search.ts';
import type { Ending } from './strategy.ts';

const knobs = findKnobs('lr = 0.1\ndropout = 0.0\nepochs = 5\nmax_depth = 1\nsubsample = 1.0\nalpha = 1\n');

describe('the search', () => {
  it('changes one number at a time, tries no version twice, and comes to an end, however the tries end', () => {
    const endings = fc.array(fc.constantFrom<Ending>('kept', 'put back', 'without effect'), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.nat(), endings, (seed, told) => {
        const search = new CoordinateSearch(knobs, seededRandom(seed));
        const seen = new Set([search.values.join(' ')]);
        for (let tries = 0; ; tries += 1) {
          expect(tries).toBeLessThan(2000);
          const before = search.values;
          const proposal = search.next(() => true);
          if (proposal === null) break;
          expect(proposal.values.filter((value, place) => value !== before[place])).toEqual([proposal.to]);
          expect(seen.has(proposal.values.join(' '))).toBe(false);
          seen.add(proposal.values.join(' '));
          const ending = told[tries] ?? 'put back';
          search.tell(proposal, ending);
          expect(search.values).toEqual(ending === 'kept' ? proposal.values : before);
        }
      }),
    );
  });

  it('goes on the same way with a larger step after a change that helped', () => {
    const search = new CoordinateSearch(findKnobs('epochs = 4\n'), seededRandom(0));
    const first = search.next(() => true);
    expect(first?.to).toBe(8);
    if (first !== null) search.tell(first, 'kept');
    expect(search.next(() => true)?.to).toBe(32);
  });

  it('proposes only what can be afforded', () => {
    const search = new CoordinateSearch(findKnobs('epochs = 4\n'), seededRandom(0));
    expect(search.next(([epochs = 0]) => epochs < 8)?.to).toBe(2);
    expect(search.next(() => false)).toBe(null);
  });

  it('draws from the seed alone', () => {
    const order = (seed: number) => new CoordinateSearch(knobs, seededRandom(seed)).next(() => true);
    expect(order(5)).toEqual(order(5));
    const random = seededRandom(1);
    for (let draw = 0; draw < 1000; draw += 1) {
      const value = random();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });
});
