import { type EndReason, type Limits, storedBytesLimit } from '../schema/index.ts';

/** How a run ended. */
export interface Ending {
  reason: EndReason;
  message: string;
  finalAnswer: string | null;
}

/**
 * What ends a run after a step; null if nothing does.
 * @param storedBytes what the run has added to its experiment folder
 */
export function endingOf(
  finalAnswer: string | null,
  budget: { steps_left: number; seconds_left: number },
  limits: Limits,
  storedBytes = 0,
): Ending | null {
  if (finalAnswer !== null)
    return { reason: 'final_answer', message: 'The final answer was given.', finalAnswer };
  if (budget.seconds_left <= 0) return timeUp(limits);
  if (budget.steps_left <= 0) {
    const message = `The ${limits.steps} steps of the run are used up.`;
    return { reason: 'step_limit', message, finalAnswer };
  }
  return storageUp(limits, storedBytes);
}

/** The end of a run that has reached its storage limit; null if it has not. */
export function storageUp(limits: Limits, storedBytes: number): Ending | null {
  if (storedBytes < storedBytesLimit(limits)) return null;
  const mebibytes = Math.round(storedBytesLimit(limits) / 2 ** 20);
  const message = `The run has kept ${mebibytes} MiB of files, outputs and messages: as much as it may (limit stored_mb).`;
  return { reason: 'storage_limit', message, finalAnswer: null };
}

export function timeUp(limits: Limits): Ending {
  const message = `The ${limits.wall_seconds} seconds of the run are used up.`;
  return { reason: 'time_limit', message, finalAnswer: null };
}
