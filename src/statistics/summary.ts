/** Mean of one or more numbers. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Sample standard deviation (n − 1 in the denominator); 0 for fewer than two numbers, and for equal ones. */
export function sampleStandardDeviation(values: readonly number[]): number {
  if (areEqual(values)) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1));
}

/** Relative to the values: a smaller difference comes from the rounding of sums. */
const roundingOfSums = 1e-12;

/** Whether numbers are equal but for the rounding of sums. */
export function areEqual(values: Iterable<number>): boolean {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const value of values) [low, high] = [Math.min(low, value), Math.max(high, value)];
  return high - low <= roundingOfSums * Math.min(Math.max(Math.abs(low), Math.abs(high)), Number.MAX_VALUE);
}

/** Median of one or more numbers; the mean of the two in the middle if their count is even. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((sorted[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** Quantile of ascending numbers, at least one, with linear interpolation (Hyndman & Fan 1996, type 7). */
export function quantileOfSorted(sorted: ArrayLike<number>, share: number): number {
  const place = Math.min(1, Math.max(0, share)) * (sorted.length - 1);
  const below = sorted[Math.floor(place)] ?? Number.NaN;
  const above = sorted[Math.ceil(place)] ?? Number.NaN;
  return below + (above - below) * (place - Math.floor(place));
}

/** Mean of the middle half: a quarter of the numbers, rounded down, is left out at each end. At least one number. */
export function interquartileMean(values: readonly number[]): number {
  const cut = Math.floor(values.length / 4);
  return mean(values.toSorted((a, b) => a - b).slice(cut, values.length - cut));
}

/** A range that contains the true value with a stated confidence. */
export interface Interval {
  low: number;
  high: number;
}

/**
 * Wilson's score interval for a success rate (Wilson 1927, doi:10.1080/01621459.1927.10502953): valid for few runs and
 * for rates of 0 and 1, for which the textbook interval collapses.
 * @param z the normal quantile; 1.96 means 95 %
 */
export function wilsonInterval(successes: number, runs: number, z = 1.959963984540054): Interval {
  if (runs === 0) return { low: 0, high: 1 };
  const rate = successes / runs;
  const shrink = 1 + z ** 2 / runs;
  const centre = (rate + z ** 2 / (2 * runs)) / shrink;
  const half = (z / shrink) * Math.sqrt((rate * (1 - rate)) / runs + z ** 2 / (4 * runs ** 2));
  return {
    low: successes === 0 ? 0 : Math.max(0, centre - half),
    high: successes === runs ? 1 : Math.min(1, centre + half),
  };
}
