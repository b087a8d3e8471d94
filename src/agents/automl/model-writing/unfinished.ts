import type { SubmissionSeen } from '../../../environment/index.ts';
import type { Outcome } from '../trial.ts';
import type { Placeholder } from './find-placeholders.ts';

/**
 * Why a starter counts as a skeleton that lacks its model; null for one that works, or fails for another reason.
 * A starter that runs and prints the metric is finished unless the text of one of its own functions says otherwise.
 */
export function whyUnfinished(
  placeholders: readonly Placeholder[],
  starter: Outcome,
  submission: SubmissionSeen | null,
): string | null {
  if (starter.kind === 'measured') {
    const marked = placeholders.filter(({ kind }) => kind === 'marked body');
    return marked.length > 0 ? described(marked) : null;
  }
  if (starter.timedOut) return null;
  if (placeholders.length > 0) return described(placeholders);
  const isMute = starter.silent === true && submission?.present === false;
  return isMute ? 'it prints no metric and writes no submission' : null;
}

/**
 * Why a starter that is not a skeleton is still of no use: nothing shows whether a change to it helps. One that was
 * stopped at its time limit counts only if it left no submission. Null for one that prints its metric. One that prints
 * another metric can be improved by that metric, but first a model is written for the task's own metric.
 */
export function whyUseless(starter: Outcome, submission: SubmissionSeen | null): string | null {
  if (starter.kind === 'measured') return starter.other === true ? 'it prints another metric' : null;
  if (starter.timedOut && submission?.present === true) return null;
  return starter.why;
}

function described(placeholders: readonly Placeholder[]): string {
  const texts = {
    'undefined name': (placeholder: Placeholder) =>
      `${placeholder.text} is used but defined nowhere (line ${placeholder.line})`,
    'empty body': (placeholder: Placeholder) => `${placeholder.text} does nothing (line ${placeholder.line})`,
    'marked body': (placeholder: Placeholder) =>
      `${placeholder.text} says that it is still to be written (line ${placeholder.line})`,
    marker: (placeholder: Placeholder) => `line ${placeholder.line} says "${placeholder.text.slice(0, 80)}"`,
  };
  return placeholders
    .slice(0, 6)
    .map((placeholder) => texts[placeholder.kind](placeholder))
    .join('; ');
}
