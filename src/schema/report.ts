import { z } from 'zod';
import { EvaluatedBranch, ModelUse } from './evaluation.ts';
import { EndReason, RunParent } from './event.ts';
import { ExperimentName, RunId, TaskId } from './ids.ts';
import { ErrorCategory } from './process-metrics.ts';
import {
  Estimate,
  Outcome,
  PassAt,
  Rate,
  RateMean,
  RateVariants,
  ReportInterval,
  RunGroup,
  Summary,
  TaskMean,
} from './report-parts.ts';
import { RunStatus } from './run.ts';
import { ScoringReference } from './scoring-reference.ts';
import { ReportAttempt } from './search-node.ts';

const fraction = z.number().min(0).max(1);
const count = z.int().min(0);

/** `every_run`: our rules; `paper`: the rules of arXiv 2310.03302. Both: docs/evaluation.md. */
export const Convention = z.enum(['every_run', 'paper']);
export type Convention = z.infer<typeof Convention>;

/** One run in a line. */
export const ReportRun = z.object({
  experiment: ExperimentName,
  run: RunId,
  /** The run that it was forked from, or from which somebody began it: the steps up to there, and their cost, are shared. */
  parent: RunParent.optional(),
  task: TaskId,
  agent: z.string(),
  seed: z.int().min(0),
  status: RunStatus,
  end: z.object({ reason: EndReason, cause: z.string().nullable(), message: z.string() }).nullable(),
  outcome: Outcome,
  /** Of the final submission; null if it is not valid. */
  score: z.number().nullable(),
  /** The number to which the score is compared under the report's convention; null while nothing is graded. */
  baseline: z.number().nullable(),
  improvement: z.number().nullable(),
  /** 0 without a valid submission; null if the run was never graded, or the task has no better reference. */
  normalised: z.number().nullable(),
  /** Null while the run is unfinished, so that the mean over runs is the rate. */
  success: z.boolean().nullable(),
  /** Null if the baseline's noise is unknown, as it is while nothing of the run is graded, and while it is unfinished. */
  significant: z.boolean().nullable(),
  /** The best of the graded steps of the selected branch, from step 1 on; 0 for a run that took none. */
  best: z.object({ step: z.int().min(0), score: z.number(), improvement: z.number().nullable() }).nullable(),
  stale: z.boolean(),
  steps: z.int().min(0),
  seconds: z.number().min(0),
  /** Input and output, of the agent and its tools. */
  tokens: z.int().min(0),
  /** How many of them are from calls for which the provider gave no full counts. Then the cost is an estimate, too. */
  tokens_estimated: z.int().min(0).default(0),
  money: z.number().min(0).nullable(),
  /** The use of each model; absent if none was called. */
  models: z.array(ModelUse).optional(),
  /** Kinds of integrity flags, each once. */
  flags: z.array(z.string()),
  /** Kinds of failure in the run, each once. */
  errors: z.array(ErrorCategory),
  caveats: z.array(z.string()),
  /**
   * Paths in `ProcessMetrics` without a value, such as the regret of a run whose steps were not graded; absent if there
   * are none.
   */
  unmeasured: z.array(z.string()).optional(),
  /** `main` first; absent if it is the only branch. */
  branches: z.array(EvaluatedBranch).optional(),
  /** Of an agent that searches; absent for others. */
  attempts: z.array(ReportAttempt).optional(),
});
export type ReportRun = z.infer<typeof ReportRun>;

/** One agent on one task. */
export const ReportPair = RunGroup.extend({
  task: TaskId,
  agent: z.string(),
  /** Success at the end under the report's convention. */
  success: Rate,
  rates: RateVariants,
  /** Success beyond the baseline's own noise; over the runs for which it is known. */
  significant: Rate,
  /** `any_step`: over the runs whose steps were graded. */
  thresholds: z.array(z.object({ threshold: z.number(), end: Rate, any_step: Rate })),
  score: Summary.nullable(),
  /** Mean of the baselines of the final submissions; null while nothing is graded. */
  baseline: z.number().nullable(),
  /** Of valid final submissions. */
  improvement: Estimate.nullable(),
  /** Over all runs in the rate; a run without a valid submission has improved by 0. */
  improvement_of_all: Estimate.nullable(),
  /**
   * 0 = baseline, 1 = reference; a run without a valid submission has 0. Over the runs in the rate that have one: a
   * failure before any grading has none.
   */
  normalised: Estimate.nullable(),
  best: z.object({ improvement: Summary, step: Summary }).nullable(),
  pass_at: z.array(PassAt),
  /** That of the first run; a caveat says so where others have another one. */
  scoring_reference: ScoringReference.nullable(),
});
export type ReportPair = z.infer<typeof ReportPair>;

/** One agent over its tasks; each task counts the same. */
export const ReportRow = RunGroup.extend({
  agent: z.string(),
  tasks: z.array(TaskId),
  /** Mean of the tasks' rates. */
  success: RateMean.nullable(),
  rates: z.object({
    all: RateMean.nullable(),
    without_infrastructure: RateMean.nullable(),
    without_flagged: RateMean.nullable(),
    without_doubted: RateMean.nullable(),
  }),
  significant: RateMean.nullable(),
  thresholds: z.array(
    z.object({ threshold: z.number(), end: RateMean.nullable(), any_step: RateMean.nullable() }),
  ),
  improvement: TaskMean.nullable(),
  improvement_of_all: TaskMean.nullable(),
  normalised: TaskMean.nullable(),
  /** Interquartile mean of the normalised scores of all runs. */
  normalised_iqm: z.object({ value: z.number(), interval: ReportInterval.nullable() }).nullable(),
  pass_at: z.array(PassAt),
});
export type ReportRow = z.infer<typeof ReportRow>;

export const ComparedMeasure = z.enum([
  'success',
  'normalised',
  /** Probability that a run of A has a better score than one of B, minus that of the opposite. */
  'superiority',
]);
export type ComparedMeasure = z.infer<typeof ComparedMeasure>;

/** A difference, A minus B: the mean over tasks of the differences of means. */
export const Difference = z.object({
  tasks: z.int().min(1),
  value: z.number(),
  /**
   * For success: Newcombe's, from Wilson's of both sides; for normalised scores: Welch's, null if a task has only one run
   * of a side; for superiority: none.
   */
  interval: ReportInterval.nullable(),
  /** Two-sided, by permutation within tasks. */
  p: fraction,
  /** Corrected for all comparisons of the same measure (Holm). */
  p_corrected: fraction,
  /** `p_corrected` is below 0.05. */
  beyond_noise: z.boolean(),
});
export type Difference = z.infer<typeof Difference>;

export const AgentComparison = z.object({
  a: z.string(),
  b: z.string(),
  /** Tasks for which both have runs. */
  tasks: z.array(TaskId),
  differences: z.partialRecord(ComparedMeasure, Difference),
});
export type AgentComparison = z.infer<typeof AgentComparison>;

export const CurveAxis = z.enum(['steps', 'seconds', 'tokens', 'money']);
export type CurveAxis = z.infer<typeof CurveAxis>;

/**
 * The improvement of the newest graded step after so many steps, seconds, tokens or US dollars: median and quartiles
 * across runs.
 */
export const ScoreCurve = z.object({
  task: TaskId,
  agent: z.string(),
  axis: CurveAxis,
  /** Runs whose steps were graded, and with a known cost if the axis is money. */
  runs: z.int().min(1),
  /** Mean over the runs of the improvement along the whole axis. */
  area: z.number(),
  /** The same positions for all agents of a task. */
  at: z.array(z.number().min(0)),
  low: z.array(z.number()),
  median: z.array(z.number()),
  high: z.array(z.number()),
});
export type ScoreCurve = z.infer<typeof ScoreCurve>;

/** Agents by the cost of a run and the success rate. */
export const Frontier = z.object({
  /** Null: over all tasks. */
  task: TaskId.nullable(),
  cost: z.enum(['money', 'seconds']),
  points: z.array(
    z.object({
      agent: z.string(),
      /** Mean of a run; over all tasks: mean of the tasks' means. */
      cost: z.number().min(0),
      success: fraction,
      /** The counts behind `success`. */
      successes: count,
      runs: count,
      /** No other agent is at least as good in both and better in one. */
      on_frontier: z.boolean(),
    }),
  ),
});
export type Frontier = z.infer<typeof Frontier>;

/** Share of an agent's runs with a normalised score above each level; each task counts the same. */
export const PerformanceProfile = z.object({
  agent: z.string(),
  /** How many runs. */
  runs: z.int().min(1),
  levels: z.array(z.number()),
  share: z.array(fraction),
  low: z.array(fraction),
  high: z.array(fraction),
});
export type PerformanceProfile = z.infer<typeof PerformanceProfile>;

const matrix = z.array(z.array(z.number().nullable()));

/** Everything that tables and plots need: computed from evaluations alone, the same for any order of them. */
export const Report = z.object({
  v: z.literal(1),
  convention: Convention,
  confidence: fraction,
  /** Samples of each bootstrap, and permutations of each comparison: more of them where many are corrected. */
  resamples: z.int().min(1),
  experiments: z.array(ExperimentName),
  /** Runs that are left out because the report has them already: copies of runs of another experiment; absent if there are none. */
  copies: z
    .array(z.object({ experiment: ExperimentName, of: ExperimentName, runs: z.array(RunId) }))
    .optional(),
  tasks: z.array(TaskId),
  agents: z.array(z.string()),
  pairs: z.array(ReportPair),
  rows: z.array(ReportRow),
  comparisons: z.array(AgentComparison),
  /** Rows are tasks, columns are agents. */
  heat_map: z.object({ success: matrix, improvement: matrix, normalised: matrix }),
  curves: z.array(ScoreCurve),
  frontiers: z.array(Frontier),
  profiles: z.array(PerformanceProfile),
  /** Published numbers of others, as fractions; empty unless requested. `mean`: over their tasks. */
  published: z.array(
    z.object({
      agent: z.string(),
      tasks: z.array(z.object({ task: TaskId, success_rate: fraction, improvement: z.number().nullable() })),
      mean: z.object({ success_rate: fraction, improvement: z.number().nullable() }),
    }),
  ),
  runs: z.array(ReportRun),
});
export type Report = z.infer<typeof Report>;
