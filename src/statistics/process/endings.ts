import type { ProcessMetrics } from '../../schema/index.ts';
import type { RunTranscript } from './run-transcript.ts';
import { changedWork, isEdit, isUndo, ran, succeeded } from './steps.ts';

/** What is wrong with how a run ended. */
export function endings(transcript: RunTranscript): ProcessMetrics['endings'] {
  const { steps, grades } = transcript;
  const lastEdit = steps.findLastIndex((step) => (isEdit(step) || isUndo(step)) && changedWork(step));
  const isVerified = steps.some((step, index) => index > lastEdit && ran(step) && succeeded(step));
  const final = grades.findLast(({ final }) => final);
  return {
    // Of a program that takes no steps, neither is known.
    unverified: steps.length > 0 && hasFinalAnswer(transcript) && !isVerified,
    never_executed: steps.length > 0 && !steps.some(ran),
    stale_submission: final?.stale ?? steps.at(-1)?.submission.stale ?? false,
  };
}

export function hasFinalAnswer({ end }: RunTranscript): boolean {
  return end !== null && (end.reason === 'final_answer' || end.finalAnswer !== null);
}
