import type { Estimate, Rate, RateMean, Summary, TaskMean } from '../../schema/index.ts';
import { meanInterval, medianInterval } from '../numeric/mean-intervals.ts';
import { type Counted, meanRateInterval } from '../numeric/rate-intervals.ts';
import { mean, median, sampleStandardDeviation, wilsonInterval } from '../summary.ts';
import { confidence } from './options.ts';
import { finiteOrNull } from './run-group.ts';

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

export function estimateOf(values: readonly number[]): Estimate | null {
  const summary = summaryOf(values);
  if (summary === null) return null;
  return {
    ...summary,
    mean_interval: meanInterval([values], confidence),
    median_interval: medianInterval(values, confidence),
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

/**
 * Mean over the tasks' means.
 * @param tasks the values of each task's runs; those of tasks without values are left out
 * @returns null if none is left
 */
export function meanOfMeans(tasks: readonly (readonly number[])[]): TaskMean | null {
  const known = tasks.filter(({ length }) => length > 0);
  if (known.length === 0) return null;
  return {
    tasks: known.length,
    runs: known.flat().length,
    mean: mean(known.map(mean)),
    interval: meanInterval(known, confidence),
  };
}
