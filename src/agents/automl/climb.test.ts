import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../common/seeded-random.ts';
import { Climb } from './climb.ts';
import { findKnobs } from './knobs.ts';
import type { TryEnding } from './strategy.ts';

const knobs = findKnobs('lr = 0.1\ndropout = 0.0\nepochs = 5\nmax_depth = 1\nsubsample = 1.0\nalpha = 1\n');

const changedBetween = (from: readonly number[], to: readonly number[]) =>
  to.filter((value, place) => value !== from[place]).length;

describe('the climb', () => {
  it('moves one number at a time, all with large steps first, tries no version twice, and ends', () => {
    const endings = fc.array(fc.constantFrom<TryEnding>('kept', 'put back', 'without effect'), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.nat(), endings, (seed, told) => {
        const search = new Climb(knobs, seededRandom(seed));
        let best: readonly number[] = knobs.map(({ value }) => value);
        const seen = new Set([best.join(' ')]);
        let tries = 0;
        for (; tries < 500; tries += 1) {
          const proposal = search.next(() => true);
          if (proposal === null) break;
          expect(changedBetween(best, proposal.values)).toBe(1);
          expect(seen.has(proposal.values.join(' '))).toBe(false);
          seen.add(proposal.values.join(' '));
          const ending = told[tries] ?? 'put back';
          search.tell(proposal, ending);
          if (ending === 'kept') best = proposal.values;
        }
        expect(tries).toBeGreaterThan(5);
        expect(tries).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });

  it('continues in the same direction with a larger step after a change that helped', () => {
    const search = new Climb(findKnobs('epochs = 4\n'), seededRandom(0));
    const first = search.next(() => true);
    expect(first?.values).toEqual([8]);
    if (first !== null) search.tell(first, 'kept');
    expect(search.next(() => true)?.values).toEqual([32]);
  });

  it('proposes only versions that the budget allows', () => {
    const search = new Climb(findKnobs('epochs = 4\n'), seededRandom(0));
    const proposals = [1, 2].map(() => search.next(([epochs = 0]) => epochs < 8)?.values);
    expect(proposals).toEqual([[2], [2]]);
    expect(search.next(() => false)).toBe(null);
  });

  it('draws only from the seed', () => {
    const order = (seed: number) => new Climb(knobs, seededRandom(seed)).next(() => true);
    expect(order(5)).toEqual(order(5));
    const random = seededRandom(1);
    for (let draw = 0; draw < 1000; draw += 1) {
      const value = random();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });
});
