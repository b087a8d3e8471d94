import type { ProcessMetrics, ScoringReference } from '../../schema/index.ts';
import { debugging } from './debugging.ts';
import { endings } from './endings.ts';
import { errorCategories } from './error-categories.ts';
import { grounding, judgedClaims } from './grounding.ts';
import { ObservedNumbers } from './measurements.ts';
import { planMetrics } from './plan.ts';
import { progress } from './progress.ts';
import type { RunTranscript } from './run-transcript.ts';
import { waste } from './waste.ts';

/**
 * How a run went, by the definitions in docs/evaluation.md.
 * @param scoringReference null if nothing of the run is graded: measures of its scores are null then
 */
export function processMetrics(
  transcript: RunTranscript,
  scoringReference: ScoringReference | null,
): ProcessMetrics {
  const observed = new ObservedNumbers();
  const measured = {
    grounding: grounding(judgedClaims(transcript, observed)),
    endings: endings(transcript),
    debugging: debugging(transcript),
    waste: waste(transcript),
    progress: progress(transcript, scoringReference, observed),
    plan: planMetrics(transcript),
  };
  return { ...measured, errors: errorCategories(transcript, scoringReference, measured) };
}
