import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../common/seeded-random.ts';
import { Climb } from './climb.ts';
import { findKnobs } from './knobs.ts';
import type { Ending } from './strategy.ts';

const knobs = findKnobs('lr = 0.1\ndropout = 0.0\nepochs = 5\nmax_depth = 1\nsubsample = 1.0\nalpha = 1\n');

const changedBetween = (from: readonly number[], to: readonly number[]) =>
  to.filter((value, place) => value !== from[place]).length;

describe('the climb', () => {
  it('moves one number with large steps first, then a few at once as well, and tries no version twice', () => {
    const endings = fc.array(fc.constantFrom<Ending>('kept', 'put back', 'without effect'), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.nat(), endings, (seed, told) => {
        const search = new Climb(knobs, seededRandom(seed));
        let best: readonly number[] = knobs.map(({ value }) => value);
        const seen = new Set([best.join(' ')]);
        const widths: number[] = [];
        for (let tries = 0; tries < 200; tries += 1) {
          const proposal = search.next(() => true);
          if (proposal === null) break;
          widths.push(changedBetween(best, proposal.values));
          expect(seen.has(proposal.values.join(' '))).toBe(false);
          seen.add(proposal.values.join(' '));
          const ending = told[tries] ?? 'put back';
          search.tell(proposal, ending);
          if (ending === 'kept') best = proposal.values;
        }
        expect(Math.min(...widths)).toBe(1);
        expect(Math.max(...widths)).toBeLessThanOrEqual(3);
        expect(widths.slice(0, 5)).toEqual([1, 1, 1, 1, 1]);
      }),
      { numRuns: 50 },
    );
  });

  it('trains longer if the time left is enough for a few runs only', () => {
    const few = new Climb(findKnobs('lr = 0.1\nmost_steps = 100\nmax_steps = 1_000_000\n'), seededRandom(0));
    expect(few.next(([, steps = 0]) => steps <= 350)?.values).toEqual([0.1, 300, 1_000_000]);
    const many = new Climb(findKnobs('lr = 0.1\nmost_steps = 100\n'), seededRandom(0));
    expect(many.next(([, steps = 0]) => steps <= 1_000)?.values).toEqual([expect.not.closeTo(0.1), 100]);
  });

  it('begins with given values, and says what to train longer from there', () => {
    const begun = new Climb(findKnobs('lr = 0.1\nmost_steps = 100\n'), seededRandom(0), [], [0.1, 200]);
    const longer = begun.longer(([, steps = 0]) => steps <= 700, 2);
    expect([longer?.values, longer?.change]).toEqual([[0.1, 400], 'most_steps: 200 → 400 (line 2).']);
    expect(begun.longer(() => true)).toBeNull();
  });

  it('continues with leaps when no single step is left, so that the whole budget is used', () => {
    const search = new Climb(knobs, seededRandom(0));
    for (let tries = 0; tries < 500; tries += 1) {
      const proposal = search.next(() => true);
      expect(proposal).not.toBeNull();
      if (proposal !== null) search.tell(proposal, 'put back');
    }
  });

  it('leaves a number without effect of its own out of leaps', () => {
    const search = new Climb(findKnobs('lr = 0.1\nepochs = 5\nalpha = 1\n'), seededRandom(0));
    for (let tries = 0; tries < 100; tries += 1) {
      const proposal = search.next(() => true);
      if (proposal === null) break;
      const width = changedBetween([0.1, 5, 1], proposal.values);
      if (width > 1) expect(proposal.values[1]).toBe(5);
      search.tell(proposal, width === 1 && proposal.values[1] !== 5 ? 'without effect' : 'put back');
    }
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
    expect(proposals).toEqual([[6], [2]]);
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
