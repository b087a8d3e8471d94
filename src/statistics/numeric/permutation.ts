import type { Random } from './random.ts';

/** Values of two sides in one stratum; each side has one at least. */
export interface Stratum {
  a: readonly number[];
  b: readonly number[];
}

/** The mean over strata of the differences of means, A less B. */
export function meanDifference(strata: readonly Stratum[]): number {
  const differences = strata.map(({ a, b }) => sum(a) / a.length - sum(b) / b.length);
  return sum(differences) / strata.length;
}

/**
 * How likely a difference at least this large is where both sides are alike: the share of random exchanges between
 * the sides, within each stratum, whose difference is at least as large (two-sided). The observed one counts as one of
 * them, so that p is never 0 (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585). Once a twentieth of
 * all that are allowed are at least as large, p is their share so far and no more are drawn (Besag & Clifford 1991,
 * doi:10.1093/biomet/78.2.301): a p-value below 0.05 rests on all of them.
 * @param permutations at most
 */
export function permutationTest(strata: readonly Stratum[], permutations: number, random: Random): number {
  const prepared = strata.map(({ a, b }) => {
    const swapped = b.length < a.length;
    const [small, large] = swapped ? [b, a] : [a, b];
    return {
      pool: Float64Array.from([...a, ...b]).sort(),
      size: small.length,
      total: sum([...a, ...b]),
      rest: large.length,
      sign: swapped ? -1 : 1,
    };
  });
  const observed = Math.abs(meanDifference(strata) * strata.length);
  const scale = Math.max(1e-300, ...prepared.map(({ pool }) => Math.max(...pool.map(Math.abs))));
  const tolerance = 1e-12 * scale * strata.length;
  const enough = Math.ceil(permutations / 20);
  let extreme = 0;
  for (let permutation = 1; permutation <= permutations; permutation += 1) {
    let difference = 0;
    for (const { pool, size, total, rest, sign } of prepared) {
      const drawn = drawnSum(pool, size, random);
      difference += sign * (drawn / size - (total - drawn) / rest);
    }
    if (Math.abs(difference) >= observed - tolerance) extreme += 1;
    if (extreme === enough) return extreme / permutation;
  }
  return (extreme + 1) / (permutations + 1);
}

/** Sum of so many values of a pool, drawn without replacement; the pool is left in another order. */
function drawnSum(pool: Float64Array, size: number, random: Random): number {
  let drawn = 0;
  for (let place = 0; place < size; place += 1) {
    const other = place + random(pool.length - place);
    const value = pool[other] ?? 0;
    pool[other] = pool[place] ?? 0;
    pool[place] = value;
    drawn += value;
  }
  return drawn;
}

/**
 * Both sides as ranks among all values of the stratum (ties: their mean rank), scaled so that the difference of means
 * is P(a > b) − P(a < b), Cliff's delta; values may be infinite (Cliff 1993, doi:10.1037/0033-2909.114.3.494).
 */
export function scaledRanks({ a, b }: Stratum): Stratum {
  const scale = 2 / (a.length + b.length);
  // By comparison: the difference of two infinite values is no number.
  const sorted = [...a, ...b].sort((one, other) => Number(one > other) - Number(one < other));
  const ranks = new Map<number, number>();
  for (let first = 0; first < sorted.length; ) {
    const value = sorted[first] ?? 0;
    let end = first;
    while (end < sorted.length && sorted[end] === value) end += 1;
    ranks.set(value, (scale * (first + end + 1)) / 2);
    first = end;
  }
  const rank = (value: number) => ranks.get(value) ?? 0;
  return { a: a.map(rank), b: b.map(rank) };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
