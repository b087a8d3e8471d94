import type { ComparedMeasure, Difference } from '../../schema/index.ts';
import { bootstrapInterval } from '../numeric/bootstrap.ts';
import { holm } from '../numeric/holm.ts';
import {
  type Exchanges,
  meanDifference,
  permutationTest,
  type Stratum,
  scaledRanks,
} from '../numeric/permutation.ts';
import { rateDifferenceInterval } from '../numeric/rate-intervals.ts';
import type { Interval } from '../summary.ts';
import { type MeasuredValues, meanReplicates } from './measured.ts';
import { confidence, significanceLevel } from './options.ts';
import type { PairData } from './pairs.ts';

/** The same task (and agent, if sides share it) on both sides. */
export interface MatchedPair {
  a: PairData;
  b: PairData;
}

type Uncorrected = Omit<Difference, 'p_corrected' | 'beyond_noise'>;

/** @returns A minus B; null if no task has values of both */
export function differenceIn(
  measure: ComparedMeasure,
  pairs: readonly MatchedPair[],
  exchanges: Exchanges,
): Uncorrected | null {
  const compared = pairs.flatMap((pair) => comparedIn(measure, pair) ?? []);
  if (compared.length === 0) return null;
  const strata = compared.map(({ stratum }) => stratum);
  const bootstrap = measure === 'superiority' ? null : bootstrapOf(compared);
  return {
    tasks: strata.length,
    value: meanDifference(strata),
    interval: measure === 'success' ? rateInterval(strata) : bootstrap,
    bootstrap,
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

interface Compared {
  stratum: Stratum;
  samples: { a: MeasuredValues; b: MeasuredValues } | null;
}

function comparedIn(measure: ComparedMeasure, { a, b }: MatchedPair): Compared | null {
  if (measure === 'superiority') {
    const ranks = { a: a.inRate.map(({ rank }) => rank), b: b.inRate.map(({ rank }) => rank) };
    if (ranks.a.length === 0 || ranks.b.length === 0) return null;
    return { stratum: scaledRanks(ranks), samples: null };
  }
  const [ofA, ofB] = [a[measure], b[measure]];
  if (ofA === null || ofB === null) return null;
  return { stratum: { a: ofA.values, b: ofB.values }, samples: { a: ofA, b: ofB } };
}

/** Runs are resampled within each task and side. */
function bootstrapOf(compared: readonly Compared[]): Interval | null {
  const samples = compared.flatMap((one) => one.samples ?? []);
  const ofA = samples.map(({ a }) => a);
  const ofB = samples.map(({ b }) => b);
  const [meansA, meansB] = [meanReplicates(ofA), meanReplicates(ofB)];
  const sizes = [...ofA, ...ofB].map(({ replicates }) => replicates.size);
  return bootstrapInterval(
    meansA.map((value, sample) => value - (meansB[sample] ?? 0)),
    sizes,
    confidence,
  );
}

function rateInterval(strata: readonly Stratum[]): Interval {
  const counted = (values: readonly number[]) => ({
    successes: values.filter((value) => value === 1).length,
    runs: values.length,
  });
  return rateDifferenceInterval(
    strata.map(({ a }) => counted(a)),
    strata.map(({ b }) => counted(b)),
  );
}
