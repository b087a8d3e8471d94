import type { ComparedMeasure, Difference } from '../../schema/index.ts';
import { holm } from '../numeric/holm.ts';
import { meanDifferenceInterval } from '../numeric/mean-intervals.ts';
import {
  Exchanges,
  meanDifference,
  permutationTest,
  type Stratum,
  scaledRanks,
} from '../numeric/permutation.ts';
import { type Counted, rateDifferenceInterval } from '../numeric/rate-intervals.ts';
import type { Interval } from '../summary.ts';
import { confidence, type ReportSettings, significanceLevel } from './options.ts';
import type { PairData } from './pairs.ts';

/** The same task (and agent, if sides share it) on both sides. */
export interface MatchedPair {
  a: PairData;
  b: PairData;
}

/**
 * Enough exchanges for that many comparisons that are corrected together: p is at least one by their number, and the
 * correction multiplies it by the number of comparisons.
 */
export function exchangesFor(comparisons: number, { resamples }: ReportSettings): Exchanges {
  return new Exchanges(Math.max(resamples, Math.ceil((2 * comparisons) / significanceLevel)));
}

type Uncorrected = Omit<Difference, 'p_corrected' | 'beyond_noise'>;

/** @returns A minus B; null if no task has values of both */
export function differenceIn(
  measure: ComparedMeasure,
  pairs: readonly MatchedPair[],
  exchanges: Exchanges,
): Uncorrected | null {
  const strata = pairs.map((pair) => comparedIn(measure, pair)).filter(hasBoth);
  if (strata.length === 0) return null;
  return {
    tasks: strata.length,
    value: meanDifference(strata),
    interval: intervalIn(measure, strata),
    p: permutationTest(strata, exchanges),
  };
}

/** The same differences in the same order, with p-values corrected for their number. */
export function corrected(differences: readonly (Uncorrected | null)[]): (Difference | null)[] {
  const pValues = holm(differences.flatMap((difference) => difference?.p ?? []));
  let next = 0;
  return differences.map((difference) => {
    if (difference === null) return null;
    const p = pValues[next] ?? 1;
    next += 1;
    return { ...difference, p_corrected: p, beyond_noise: p < significanceLevel };
  });
}

function comparedIn(measure: ComparedMeasure, { a, b }: MatchedPair): Stratum {
  if (measure !== 'superiority') return { a: a[measure], b: b[measure] };
  const ranks = { a: a.inRate.map(({ rank }) => rank), b: b.inRate.map(({ rank }) => rank) };
  return hasBoth(ranks) ? scaledRanks(ranks) : ranks;
}

function hasBoth({ a, b }: Stratum): boolean {
  return a.length > 0 && b.length > 0;
}

function intervalIn(measure: ComparedMeasure, strata: readonly Stratum[]): Interval | null {
  if (measure === 'superiority') return null;
  const [a, b] = [strata.map((stratum) => stratum.a), strata.map((stratum) => stratum.b)];
  if (measure === 'normalised') return meanDifferenceInterval(a, b, confidence);
  return rateDifferenceInterval(a.map(counted), b.map(counted));
}

function counted(values: readonly number[]): Counted {
  return { successes: values.filter((value) => value === 1).length, runs: values.length };
}
