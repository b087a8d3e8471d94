import { z } from 'zod';

/** A place in a run, and a quotation from it. */
export const Evidence = z.object({
  /** 0: before the first step; null: the run as a whole. */
  step: z.int().min(0).nullable(),
  text: z.string(),
});
export type Evidence = z.infer<typeof Evidence>;

/** The paper's kinds of failure (arXiv 2310.03302, v1), assigned by the rules in docs/evaluation.md. */
export const ErrorCategory = z.enum([
  'hallucination',
  'debugging',
  'context_limit',
  'bad_plan',
  'response_format',
  'submission_format',
  'small_or_no_improvement',
]);
export type ErrorCategory = z.infer<typeof ErrorCategory>;

const count = z.int().min(0);
const share = z.number().min(0).max(1).nullable();

/**
 * How a run went, from its trace and grades alone. Definitions: docs/evaluation.md. Null: there was nothing to measure.
 */
export const ProcessMetrics = z.object({
  grounding: z.object({
    /** Numbers stated as results. */
    claims: count,
    /** Claims that no earlier measurement contains. */
    ungrounded: count,
    /** At most 20 of them. */
    examples: z.array(Evidence),
  }),
  endings: z.object({
    /** A final answer without a successful execution after the last edit. */
    unverified: z.boolean(),
    never_executed: z.boolean(),
    stale_submission: z.boolean(),
  }),
  debugging: z.object({
    executions: count,
    failed: count,
    /** Sequences of consecutive failed executions. */
    chains: count,
    longest_chain: count,
    mean_chain: z.number().min(0).nullable(),
    /** Failures with the same error as the execution before. */
    same_error_again: count,
    /** Share of the chains that ended with a successful execution. */
    recovery_rate: share,
  }),
  waste: z.object({
    /** The same action with the same arguments on an unchanged workspace. */
    repeated_actions: count,
    edits: count,
    edits_never_executed: count,
    no_op_edits: count,
    format_errors: count,
    /** Edits per execution; null if nothing was executed. */
    edit_to_execute_ratio: z.number().min(0).nullable(),
  }),
  progress: z.object({
    /** To the first valid submission; null if there was none, or steps were not graded. */
    first_valid: z.object({ step: count, seconds: z.number().min(0), tokens: count }).nullable(),
    /**
     * Mean improvement of the newest graded step over the run's steps, see docs/evaluation.md; null if steps were not
     * graded.
     */
    area_under_curve: z.number().nullable(),
    /** Improvement of the best step minus that of the final one; null if steps were not graded. */
    regret: z.number().min(0).nullable(),
    /** Kendall's tau-b between the agent's own validation metric and the hidden score over graded steps. */
    validation_rank_correlation: z.number().min(-1).max(1).nullable(),
  }),
  plan: z.object({
    /** False if the agent keeps no plan. */
    kept: z.boolean(),
    declared: count,
    done: count,
    /** Removed from the plan without having been marked done. */
    dropped: count,
  }),
  errors: z.array(z.object({ category: ErrorCategory, evidence: z.array(Evidence).min(1) })),
});
export type ProcessMetrics = z.infer<typeof ProcessMetrics>;
