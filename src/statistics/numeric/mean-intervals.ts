import { type Interval, mean, sampleStandardDeviation } from '../summary.ts';
import { studentQuantile } from './distributions.ts';

/** Values of the runs of one task. */
type Stratum = readonly number[];

/**
 * Interval for the mean over strata of their means: Student's, and for several strata Welch's, with the degrees of
 * freedom by Satterthwaite (1946, doi:10.2307/3002019). It can reach beyond the values, as it must for few of them.
 * @returns null if a stratum has a single value, which says nothing about its noise, if all values of each stratum are
 *   equal, or if they are too large for a variance
 */
export function meanInterval(strata: readonly Stratum[], confidence: number): Interval | null {
  return around(mean(strata.map(mean)), strata, strata.length, confidence);
}

/** Interval for the difference of two such means over the same strata, A minus B. */
export function meanDifferenceInterval(
  a: readonly Stratum[],
  b: readonly Stratum[],
  confidence: number,
): Interval | null {
  return around(mean(a.map(mean)) - mean(b.map(mean)), [...a, ...b], a.length, confidence);
}

/** @param value the sum of the groups' means, with either sign, divided by `divisor` */
function around(
  value: number,
  groups: readonly Stratum[],
  divisor: number,
  confidence: number,
): Interval | null {
  if (groups.length === 0 || groups.some(({ length }) => length < 2)) return null;
  const variances = groups.map((values) => sampleStandardDeviation(values) ** 2 / values.length);
  const variance = sum(variances);
  if (!Number.isFinite(variance)) return null;
  // Values that are all alike, such as those of runs without a valid submission, do not show how much chance could do.
  if (variance === 0) return null;
  const freedom =
    1 / sum(variances.map((one, index) => (one / variance) ** 2 / ((groups[index]?.length ?? 0) - 1)));
  const half = (quantileBetween((1 + confidence) / 2, freedom) * Math.sqrt(variance)) / divisor;
  return { low: value - half, high: value + half };
}

/** Student's quantile for any number of degrees of freedom from 1 on: between whole ones, linear in its inverse. */
function quantileBetween(probability: number, freedom: number): number {
  const below = Math.max(1, Math.floor(freedom));
  const low = studentQuantile(probability, below);
  const share = (1 / below - 1 / Math.max(freedom, below)) / (1 / below - 1 / (below + 1));
  return low + share * (studentQuantile(probability, below + 1) - low);
}

/**
 * Interval for the median between two of the values, by their order alone, so that it holds for any distribution (Hahn &
 * Meeker, *Statistical Intervals*, 1991, section 5.2).
 * @returns null if there are too few values for this confidence: five or fewer for 95 %
 */
export function medianInterval(values: Stratum, confidence: number): Interval | null {
  const sorted = values.toSorted((one, other) => one - other);
  let outside = 0;
  // The logarithm of the probability that so many of the values, and no more, are below the true median: of more than
  // 1,074 values, the smallest probabilities are too small for a number.
  let logProbability = -sorted.length * Math.LN2;
  let place = -1;
  for (let below = 0; below < sorted.length / 2; below += 1) {
    outside += Math.exp(logProbability);
    if (outside > (1 - confidence) / 2) break;
    logProbability += Math.log((sorted.length - below) / (below + 1));
    place = below;
  }
  const [low, high] = [sorted[place], sorted[sorted.length - 1 - place]];
  return low === undefined || high === undefined ? null : { low, high };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
