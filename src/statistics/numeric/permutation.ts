import { randomOf } from './random.ts';

/** Values of two sides in one stratum; each side has at least one. */
export interface Stratum {
  a: readonly number[];
  b: readonly number[];
}

/** The mean over strata of the differences of means, A minus B. */
export function meanDifference(strata: readonly Stratum[]): number {
  const differences = strata.map(({ a, b }) => sum(a) / a.length - sum(b) / b.length);
  return sum(differences) / strata.length;
}

/**
 * Random choices of some places out of a total, by stratum. They are drawn once for each shape and shared by all tests:
 * each test is still valid by itself, and only has to compute its sums.
 */
export class Exchanges {
  /** How many choices there are of each shape. */
  readonly count: number;
  readonly #known = new Map<string, Uint32Array>();

  constructor(count: number) {
    this.count = count;
  }

  /** All choices one after another, `size` places each. */
  of(stratum: number, size: number, total: number): Uint32Array {
    const shape = JSON.stringify([stratum, size, total]);
    const known = this.#known.get(shape);
    if (known !== undefined) return known;
    const random = randomOf(shape);
    const places = Uint32Array.from({ length: total }, (_, place) => place);
    const chosen = new Uint32Array(this.count * size);
    for (let start = 0; start < chosen.length; start += size) {
      for (let place = 0; place < size; place += 1) {
        const other = place + random(total - place);
        const choice = places[other] ?? 0;
        places[other] = places[place] ?? 0;
        places[place] = choice;
        chosen[start + place] = choice;
      }
    }
    this.#known.set(shape, chosen);
    return chosen;
  }
}

/**
 * The probability of a difference at least this large if both sides are equal: the share of exchanges between the
 * sides, within each stratum, whose difference is at least as large (two-sided). All exchanges are counted if there are
 * no more of them than are drawn otherwise. Of drawn ones, the observed one counts as one of them, so that p is never 0 (Phipson & Smyth 2010, doi:10.2202/1544-6115.1585). Once a twentieth of all exchanges are
 * at least as large, p is their share so far and the rest is skipped (Besag & Clifford 1991,
 * doi:10.1093/biomet/78.2.301): a p-value below 0.05 is based on all of them.
 */
export function permutationTest(strata: readonly Stratum[], exchanges: Exchanges): number {
  const prepared = strata.map(({ a, b }, stratum) => {
    const [small, large, sign] = b.length < a.length ? [b, a, -1] : [a, b, 1];
    const pool = Float64Array.from([...a, ...b]).sort();
    const chosen = exchanges.of(stratum, small.length, pool.length);
    return { pool, chosen, size: small.length, rest: large.length, total: sum(pool), sign };
  });
  const observed = Math.abs(meanDifference(strata) * strata.length);
  const largest = Math.max(...prepared.flatMap(({ pool }) => [...pool].map(Math.abs)));
  const tolerance = 1e-12 * largest * strata.length;
  const isAsLarge = (difference: number) => Math.abs(difference) >= observed - tolerance;
  const ways = prepared.reduce((product, { pool, size }) => product * choose(pool.length, size), 1);
  if (ways <= exchanges.count) {
    const all = prepared.map(({ pool, size, rest, total, sign }) =>
      sumsOf(pool, size).map((drawn) => sign * (drawn / size - (total - drawn) / rest)),
    );
    const differences = all.reduce((sums, more) => sums.flatMap((one) => more.map((each) => one + each)));
    return differences.filter(isAsLarge).length / ways;
  }
  const enough = Math.ceil(exchanges.count / 20);
  let extreme = 0;
  for (let exchange = 0; exchange < exchanges.count; exchange += 1) {
    let difference = 0;
    for (const { pool, chosen, size, rest, total, sign } of prepared) {
      let drawn = 0;
      for (let place = exchange * size; place < (exchange + 1) * size; place += 1) {
        drawn += pool[chosen[place] ?? 0] ?? 0;
      }
      difference += sign * (drawn / size - (total - drawn) / rest);
    }
    if (isAsLarge(difference)) extreme += 1;
    if (extreme === enough) return extreme / (exchange + 1);
  }
  return (extreme + 1) / (exchanges.count + 1);
}

/**
 * Both sides as ranks among all values of the stratum (ties: their mean rank), scaled so that the difference of means
 * is P(a > b) − P(a < b), Cliff's delta; values may be infinite (Cliff 1993, doi:10.1037/0033-2909.114.3.494).
 */
export function scaledRanks({ a, b }: Stratum): Stratum {
  const scale = 2 / (a.length + b.length);
  // By comparison, because the difference of two infinite values is NaN.
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

/** How many choices of some out of all there are. */
export function choose(all: number, some: number): number {
  let ways = 1;
  for (let index = 1; index <= some; index += 1) ways *= (all - some + index) / index;
  return Math.round(ways);
}

/** The sum of every choice of so many values. */
function sumsOf(values: Float64Array, size: number): number[] {
  if (size === 0) return [0];
  const [first, rest] = [values[0] ?? 0, values.subarray(1)];
  const without = rest.length >= size ? sumsOf(rest, size) : [];
  return [...sumsOf(rest, size - 1).map((sum) => sum + first), ...without];
}

function sum(values: readonly number[] | Float64Array): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
