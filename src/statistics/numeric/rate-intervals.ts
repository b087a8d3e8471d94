import { type Interval, wilsonInterval } from '../summary.ts';

/** Successes among runs; at least one run. */
export interface Counted {
  successes: number;
  runs: number;
}

/**
 * Interval for the mean of independent rates, from the Wilson interval of each: the distances to their limits are added
 * like spreads (Zou & Donner 2008, doi:10.1002/sim.3095). Unlike the bootstrap it has a width even if all runs had the
 * same result.
 */
export function meanRateInterval(strata: readonly Counted[]): Interval {
  const { mean, below, above } = meanRate(strata);
  return { low: Math.max(0, mean - below), high: Math.min(1, mean + above) };
}

/**
 * Interval for the difference of two mean rates, A minus B, in the same way; for one stratum it is Newcombe's (Newcombe
 * 1998, Statistics in Medicine 17, 873–890, method 10).
 */
export function rateDifferenceInterval(a: readonly Counted[], b: readonly Counted[]): Interval {
  const [ofA, ofB] = [meanRate(a), meanRate(b)];
  const difference = ofA.mean - ofB.mean;
  return {
    low: difference - Math.hypot(ofA.below, ofB.above),
    high: difference + Math.hypot(ofA.above, ofB.below),
  };
}

/** A mean of rates, and the distances of its limits below and above it. */
function meanRate(strata: readonly Counted[]): { mean: number; below: number; above: number } {
  let [sum, below, above] = [0, 0, 0];
  for (const { successes, runs } of strata) {
    const rate = successes / runs;
    const { low, high } = wilsonInterval(successes, runs);
    sum += rate;
    below += (rate - low) ** 2;
    above += (high - rate) ** 2;
  }
  const { length } = strata;
  return { mean: sum / length, below: Math.sqrt(below) / length, above: Math.sqrt(above) / length };
}
