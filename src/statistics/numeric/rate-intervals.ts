import { type Interval, mean, wilsonInterval } from '../summary.ts';

/** Successes among runs; at least one run. */
export interface Counted {
  successes: number;
  runs: number;
}

/**
 * Interval for the mean of independent rates: Wilson's for that mean, with the number of runs that would give a single
 * rate the same variance if all rates were equal. If they differ, the variance is smaller, and the interval wider than
 * it would have to be. Unlike the bootstrap it has a width even if all runs had the same result.
 */
export function meanRateInterval(strata: readonly Counted[]): Interval {
  const rate = mean(strata.map(({ successes, runs }) => successes / runs));
  const runs = strata.length ** 2 / strata.reduce((sum, one) => sum + 1 / one.runs, 0);
  return wilsonInterval(rate * runs, runs);
}

/**
 * Interval for the difference of two mean rates, A minus B, from the intervals of both (Newcombe 1998, Statistics in
 * Medicine 17, 873–890, method 10, which is for two single rates).
 */
export function rateDifferenceInterval(a: readonly Counted[], b: readonly Counted[]): Interval {
  const [ofA, ofB] = [distances(a), distances(b)];
  const difference = ofA.rate - ofB.rate;
  return {
    low: difference - Math.hypot(ofA.below, ofB.above),
    high: difference + Math.hypot(ofA.above, ofB.below),
  };
}

/** A mean rate, and the distances of its limits. */
function distances(strata: readonly Counted[]): { rate: number; below: number; above: number } {
  const rate = mean(strata.map(({ successes, runs }) => successes / runs));
  const { low, high } = meanRateInterval(strata);
  return { rate, below: rate - low, above: high - rate };
}
