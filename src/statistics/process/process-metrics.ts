import type { ProcessMetrics, Yardstick } from '../../schema/index.ts';
import { debugging } from './debugging.ts';
import { endings } from './endings.ts';
import { errorCategories } from './error-categories.ts';
import { grounding, judgedClaims } from './grounding.ts';
import { ObservedNumbers } from './measurements.ts';
import { planMetrics } from './plan.ts';
import { progress } from './progress.ts';
import type { RunStory } from './run-story.ts';
import { waste } from './waste.ts';

/**
 * How a run went, by the definitions in docs/evaluation.md.
 * @param yardstick null where nothing of the run is graded: measures of its scores are null then
 */
export function processMetrics(story: RunStory, yardstick: Yardstick | null): ProcessMetrics {
  const observed = new ObservedNumbers();
  const measured = {
    grounding: grounding(judgedClaims(story, observed)),
    endings: endings(story),
    debugging: debugging(story),
    waste: waste(story),
    progress: progress(story, yardstick, observed),
    plan: planMetrics(story),
  };
  return { ...measured, errors: errorCategories(story, yardstick, measured) };
}
