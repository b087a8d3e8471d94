import type { ProcessMetrics, Yardstick } from '../schema/index.ts';
import type { RunStory } from '../statistics/index.ts';

/** STAND-IN until `processMetrics` of statistics is there: it measures nothing. To be replaced by that import. */
export function processMetrics(_story: RunStory, _yardstick: Yardstick | null): ProcessMetrics {
  return {
    grounding: { claims: 0, ungrounded: 0, examples: [] },
    endings: { unverified: false, never_executed: false, stale_submission: false },
    debugging: {
      ...{ executions: 0, failed: 0, chains: 0, longest_chain: 0, mean_chain: null },
      ...{ same_error_again: 0, recovery_rate: null },
    },
    waste: {
      ...{ repeated_actions: 0, edits: 0, edits_never_executed: 0, no_op_edits: 0, format_errors: 0 },
      edit_to_execute_ratio: null,
    },
    progress: {
      ...{ first_valid: null, area_under_curve: null, regret: null },
      validation_rank_correlation: null,
    },
    plan: { kept: false, declared: 0, done: 0, dropped: 0 },
    errors: [],
  };
}
