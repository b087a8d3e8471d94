import type { SubmissionSeen } from '../../../environment/index.ts';
import type { Outcome } from '../trial.ts';
import type { Hole } from './find-holes.ts';

/**
 * Why a starter counts as a skeleton that lacks its model; null for one that works, or fails for another reason.
 * A starter that runs and prints the metric is finished unless the text of one of its own functions says otherwise.
 */
export function whyUnfinished(
  holes: readonly Hole[],
  starter: Outcome,
  submission: SubmissionSeen | null,
): string | null {
  if (starter.kind === 'measured') {
    const marked = holes.filter(({ kind }) => kind === 'marked body');
    return marked.length > 0 ? described(marked) : null;
  }
  if (starter.timedOut) return null;
  if (holes.length > 0) return described(holes);
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

function described(holes: readonly Hole[]): string {
  const texts = {
    'undefined name': (hole: Hole) => `${hole.text} is used but defined nowhere (line ${hole.line})`,
    'empty body': (hole: Hole) => `${hole.text} does nothing (line ${hole.line})`,
    'marked body': (hole: Hole) => `${hole.text} says that it is still to be written (line ${hole.line})`,
    marker: (hole: Hole) => `line ${hole.line} says "${hole.text.slice(0, 80)}"`,
  };
  return holes
    .slice(0, 6)
    .map((hole) => texts[hole.kind](hole))
    .join('; ');
}
