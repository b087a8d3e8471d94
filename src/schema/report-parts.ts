import { z } from 'zod';
import { TokenSums } from './evaluation.ts';

const count = z.int().min(0);
const fraction = z.number().min(0).max(1);
const amount = z.number().min(0);

/** A range that contains the true value with a confidence of 95 %. */
export const ReportInterval = z.object({ low: z.number(), high: z.number() });
export type ReportInterval = z.infer<typeof ReportInterval>;

/** A share of runs with Wilson's interval. Null: no runs. */
export const Rate = z.object({
  successes: count,
  runs: count,
  rate: fraction.nullable(),
  interval: ReportInterval.nullable(),
});
export type Rate = z.infer<typeof Rate>;

/** A success rate under several rules about which runs count. */
export const RateVariants = z.object({
  /** Every run that ended; an infrastructure failure counts as no success. */
  all: Rate,
  without_infrastructure: Rate,
  /** Without runs that have any integrity flag. */
  without_flagged: Rate,
  /** Without runs that have a flag of weight `doubt`. */
  without_doubted: Rate,
});
export type RateVariants = z.infer<typeof RateVariants>;

/** The distribution of some numbers. */
export const Summary = z.object({
  count: z.int().min(1),
  mean: z.number(),
  /** Sample standard deviation; null for one number. */
  spread: z.number().min(0).nullable(),
  median: z.number(),
  low: z.number(),
  high: z.number(),
});
export type Summary = z.infer<typeof Summary>;

/**
 * A summary with Student's interval for the mean, null for one number, which says nothing about its noise, and an
 * interval for the median between two of the numbers, null for fewer than six.
 */
export const Estimate = Summary.extend({
  mean_interval: ReportInterval.nullable(),
  median_interval: ReportInterval.nullable(),
});
export type Estimate = z.infer<typeof Estimate>;

/** A mean over tasks, each task counting the same. */
export const TaskMean = z.object({
  tasks: z.int().min(1),
  /** The number of runs behind it, over all these tasks. */
  runs: count,
  mean: z.number(),
  /** Null if a task has only one run, which says nothing about its noise. */
  interval: ReportInterval.nullable(),
});
export type TaskMean = z.infer<typeof TaskMean>;

/** A mean of the tasks' rates: `successes` of `runs`. */
export const RateMean = TaskMean.extend({ successes: count });
export type RateMean = z.infer<typeof RateMean>;

export const PassAt = z.object({ k: z.int().min(1), value: fraction });
export type PassAt = z.infer<typeof PassAt>;

/** The outcome of a run; each run has exactly one. */
export const Outcome = z.enum([
  'success',
  /** Better than the baseline, but not beyond the threshold. */
  'small_improvement',
  'no_improvement',
  /** No valid submission at the end. */
  'invalid',
  'infrastructure',
  /** It has not ended, or its end has not been graded. */
  'unfinished',
]);
export type Outcome = z.infer<typeof Outcome>;

const meanTokens = TokenSums.extend({
  calls: amount,
  prompt: amount,
  cached: amount,
  completion: amount,
  reasoning: amount,
  estimated: amount.default(0),
});

/** What runs used: means over the runs that ended. Null: measured in none of them. */
export const MeanEfficiency = z.object({
  /** How many runs. */
  runs: z.int().min(1),
  steps: amount,
  tokens: z.object({ agent: meanTokens, tools: meanTokens }),
  /** In US dollars, over the runs with a known cost. */
  money: amount.nullable(),
  /** Runs with a known cost. */
  priced: count,
  seconds: z.object({
    wall: amount,
    model: amount,
    execution: amount,
    overhead: amount,
    waiting: amount,
  }),
  cpu_seconds: amount.nullable(),
  gpu_seconds: amount.nullable(),
  peak_memory_bytes: amount.nullable(),
  /** Over the runs that got GPUs; absent if none did. */
  gpus: z
    .object({
      held_seconds: amount,
      busy_seconds: amount.nullable(),
      peak_memory_bytes: amount.nullable(),
    })
    .optional(),
  /** Successes per US dollar of the runs in a rate; null if a cost is unknown, or nothing was spent. */
  success_per_dollar: amount.nullable(),
  /** Successes per wall hour of the runs in a rate; null if no time was spent. */
  success_per_hour: amount.nullable(),
});
export type MeanEfficiency = z.infer<typeof MeanEfficiency>;

const counts = z.record(z.string(), count);

/** Figures of a group of runs: of a task–agent pair, or of all runs of an agent. */
export const RunGroup = z.object({
  /** All of them. */
  runs: count,
  /** Runs in no rate: they have not ended, or their end has not been graded. */
  unfinished: count,
  /** Those that share their first steps with others of them, as forks do; absent if there are none. */
  sharing_steps: z.int().min(1).optional(),
  valid: count,
  stale: count,
  outcomes: z.record(Outcome, count),
  /** By reason of the end. */
  ends: counts,
  /** Infrastructure failures, by cause; `unknown` if none was recorded. */
  infrastructure: counts,
  integrity: z.object({
    flagged: count,
    doubted: count,
    /** Runs with a flag of that kind. */
    runs_by_kind: counts,
  }),
  /** Runs with that category of error, by `ErrorCategory`. */
  errors: counts,
  caveats: z.array(z.string()),
  /** Null if no run has ended. */
  efficiency: MeanEfficiency.nullable(),
  /**
   * Means over the runs that ended, by path in `ProcessMetrics` such as `waste.edits`; for yes-or-no measures, the
   * share. Measures that no run has are absent.
   */
  process: z.record(z.string(), z.number()),
  /** How many runs each of these means is based on. */
  process_runs: z.record(z.string(), z.int().min(1)),
});
export type RunGroup = z.infer<typeof RunGroup>;
