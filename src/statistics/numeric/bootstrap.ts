import { areEqual, type Interval, quantileOfSorted } from '../summary.ts';
import { normalCdf, studentQuantile } from './distributions.ts';
import type { Random } from './random.ts';

/**
 * With fewer values beyond one for each stratum, or in one of them, such intervals hold the true value much less often
 * than they say: samples of two values have three means only.
 */
const least = { freedom: 6, ofStratum: 3 };

/**
 * Interquartile means of samples drawn with replacement from each stratum separately (Agarwal et al. 2021, arXiv
 * 2108.13264).
 */
export function resampleInterquartileMean(
  strata: readonly (readonly number[])[],
  samples: number,
  random: Random,
): Float64Array {
  const tagged = strata
    .flatMap((values, stratum) => values.map((value) => ({ value, stratum })))
    .sort((one, other) => one.value - other.value || one.stratum - other.stratum);
  const sorted = Float64Array.from(tagged, ({ value }) => value);
  const places: number[][] = strata.map(() => []);
  tagged.forEach(({ stratum }, index) => {
    places[stratum]?.push(index);
  });
  const cut = Math.floor(sorted.length / 4);
  const drawn = new Uint32Array(sorted.length);
  return Float64Array.from({ length: samples }, () => {
    drawn.fill(0);
    for (const members of places) {
      for (let draw = 0; draw < members.length; draw += 1) {
        const index = members[random(members.length)] ?? 0;
        drawn[index] = (drawn[index] ?? 0) + 1;
      }
    }
    return meanOfCounted(sorted, drawn, cut);
  });
}

/**
 * The range of the middle of the replicates, widened for few values: a plain percentile interval is too narrow by
 * √((n−1)/n) and by the difference of the normal to Student's distribution (Hesterberg 2015,
 * doi:10.1080/00031305.2015.1089789: the expanded percentile interval). With strata, n − 1 becomes the number of values
 * minus the number of strata.
 * @returns null for so few values that no range within them would do, or if all replicates are equal
 */
export function bootstrapInterval(
  replicates: Float64Array,
  sizes: readonly number[],
  confidence: number,
): Interval | null {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const freedom = total - sizes.length;
  if (freedom < least.freedom || sizes.some((size) => size < least.ofStratum) || areEqual(replicates))
    return null;
  const tail =
    freedom > 1000
      ? (1 - confidence) / 2
      : normalCdf(-Math.sqrt(total / freedom) * studentQuantile((1 + confidence) / 2, freedom));
  const sorted = replicates.toSorted();
  return { low: quantileOfSorted(sorted, tail), high: quantileOfSorted(sorted, 1 - tail) };
}

/** Mean of values with these counts, without the first and last `cut` of them. */
function meanOfCounted(sorted: Float64Array, counts: Uint32Array, cut: number): number {
  const last = sorted.length - cut;
  let sum = 0;
  let before = 0;
  for (let index = 0; index < sorted.length; index += 1) {
    const after = before + (counts[index] ?? 0);
    const taken = Math.min(after, last) - Math.max(before, cut);
    if (taken > 0) sum += taken * (sorted[index] ?? 0);
    before = after;
  }
  return sum / (last - cut);
}
