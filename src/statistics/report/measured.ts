import type { Estimate, Rate, RateMean, Summary, TaskMean } from '../../schema/index.ts';
import { bootstrapInterval, type Replicates, resample } from '../numeric/bootstrap.ts';
import { randomOf } from '../numeric/random.ts';
import { type Counted, meanRateInterval } from '../numeric/rate-intervals.ts';
import { mean, median, sampleStandardDeviation, wilsonInterval } from '../summary.ts';
import { confidence } from './options.ts';
import { finiteOrNull } from './run-group.ts';

/** Values of the runs of one task–agent pair with their bootstrap samples; at least one. */
export interface MeasuredValues {
  values: readonly number[];
  replicates: Replicates;
}

/**
 * @param name of the pair and the measure, which seeds the random numbers, so that pairs are independent
 * @returns null if there are no values
 */
export function measure(
  values: readonly number[],
  name: readonly string[],
  resamples: number,
): MeasuredValues | null {
  if (values.length === 0) return null;
  return { values, replicates: resample(values, resamples, randomOf(JSON.stringify(name))) };
}

/** @returns null if there are no values */
export function summaryOf(values: readonly number[]): Summary | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((one, other) => one - other);
  return {
    count: values.length,
    mean: mean(sorted),
    spread: values.length < 2 ? null : finiteOrNull(sampleStandardDeviation(sorted)),
    median: median(sorted),
    low: sorted[0] ?? Number.NaN,
    high: sorted.at(-1) ?? Number.NaN,
  };
}

export function estimateOf(measured: MeasuredValues | null): Estimate | null {
  const summary = summaryOf(measured?.values ?? []);
  if (measured === null || summary === null) return null;
  const { replicates } = measured;
  return {
    ...summary,
    mean_interval: bootstrapInterval(replicates.mean, [replicates.size], confidence),
    median_interval: bootstrapInterval(replicates.median, [replicates.size], confidence),
  };
}

export function rateOf(runs: readonly boolean[]): Rate {
  const successes = runs.filter(Boolean).length;
  return {
    successes,
    runs: runs.length,
    rate: runs.length === 0 ? null : successes / runs.length,
    interval: runs.length === 0 ? null : wilsonInterval(successes, runs.length),
  };
}

/** Mean over the tasks' rates; tasks without runs are left out. */
export function meanOfRates(rates: readonly Counted[]): RateMean | null {
  const known = rates.filter(({ runs }) => runs > 0);
  if (known.length === 0) return null;
  return {
    tasks: known.length,
    mean: mean(known.map(({ successes, runs }) => successes / runs)),
    interval: meanRateInterval(known),
    ...countsOf(known),
  };
}

/** The number of runs behind some rates, and of those that succeeded. */
export function countsOf(rates: readonly Counted[]): Counted {
  return {
    successes: rates.reduce((sum, { successes }) => sum + successes, 0),
    runs: rates.reduce((sum, { runs }) => sum + runs, 0),
  };
}

/** Mean over the tasks' means, with an interval from samples of each task; null if there are no tasks. */
export function meanOfMeans(tasks: readonly MeasuredValues[]): TaskMean | null {
  if (tasks.length === 0) return null;
  return {
    tasks: tasks.length,
    mean: mean(tasks.map(({ values }) => mean(values))),
    interval: bootstrapInterval(
      meanReplicates(tasks),
      tasks.map(({ replicates }) => replicates.size),
      confidence,
    ),
  };
}

/** Samples of the mean over tasks of the tasks' means. */
export function meanReplicates(tasks: readonly MeasuredValues[]): Float64Array {
  const sums = new Float64Array(tasks[0]?.replicates.mean.length ?? 0);
  for (const { replicates } of tasks) {
    for (let sample = 0; sample < sums.length; sample += 1) {
      sums[sample] = (sums[sample] ?? 0) + (replicates.mean[sample] ?? 0);
    }
  }
  return sums.map((sum) => sum / tasks.length);
}
