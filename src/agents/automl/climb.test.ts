import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../common/seeded-random.ts';
import { climb, type TryEnding } from './climb.ts';
import { findKnobs, type Knob } from './knobs.ts';

const knobs = findKnobs('lr = 0.1\ndropout = 0.0\nepochs = 5\nmax_depth = 1\nsubsample = 1.0\nalpha = 1\n');

/** The numbers of a script, as a search sees them: `keep` makes a version the best one. */
function numbersOf(
  knobs: readonly Knob[],
  isAffordable: (values: readonly number[]) => boolean = () => true,
) {
  const values: readonly number[] = knobs.map(({ value }) => value);
  const numbers = { knobs, values, mayTry };
  const tried = new Set([values.join()]);
  function mayTry(each: readonly number[]): boolean {
    return !tried.has(each.join()) && isAffordable(each);
  }
  return {
    numbers,
    tell: (each: readonly number[], ending: TryEnding) => {
      tried.add(each.join());
      if (ending === 'kept') numbers.values = each;
      return ending;
    },
  };
}

const changedBetween = (from: readonly number[], to: readonly number[]) =>
  to.filter((value, place) => value !== from[place]).length;

describe('the climb', () => {
  it('moves one number at a time, all with large steps first, tries no version twice, and ends', () => {
    const endings = fc.array(fc.constantFrom<TryEnding>('kept', 'dropped', 'without effect'), {
      minLength: 1,
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.nat(), endings, (seed, told) => {
        const { numbers, tell } = numbersOf(knobs);
        const search = climb(numbers, seededRandom(seed));
        const seen = new Set<string>();
        let tries = 0;
        let ending: TryEnding = 'dropped';
        for (; tries < 500; tries += 1) {
          const proposal = search.next(ending).value;
          if (proposal === undefined) break;
          const { values } = proposal;
          expect(changedBetween(numbers.values, values)).toBe(1);
          expect(seen.has(values.join())).toBe(false);
          seen.add(values.join());
          ending = tell(values, told[tries] ?? 'dropped');
        }
        expect(tries).toBeGreaterThan(5);
        expect(tries).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });

  it('continues in the same direction with a larger step after a change that helped', () => {
    const { numbers, tell } = numbersOf(findKnobs('epochs = 4\n'));
    const search = climb(numbers, seededRandom(0));
    expect(search.next().value?.values).toEqual([8]);
    expect(search.next(tell([8], 'kept')).value?.values).toEqual([32]);
  });

  it('proposes only versions that the budget allows', () => {
    const few = numbersOf(findKnobs('epochs = 4\n'), ([epochs = 0]) => epochs < 8);
    expect(climb(few.numbers, seededRandom(0)).next().value?.values).toEqual([2]);
    const none = numbersOf(findKnobs('epochs = 4\n'), () => false);
    expect(climb(none.numbers, seededRandom(0)).next().done).toBe(true);
  });

  it('draws only from the seed', () => {
    const order = (seed: number) => climb(numbersOf(knobs).numbers, seededRandom(seed)).next().value;
    expect(order(5)).toEqual(order(5));
    const random = seededRandom(1);
    for (let draw = 0; draw < 1000; draw += 1) {
      const value = random();
      expect(value >= 0 && value < 1).toBe(true);
    }
  });
});
