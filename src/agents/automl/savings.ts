import type { Budget } from '../../schema/index.ts';
import { margin } from './pace.ts';

/**
 * Fresh seeds on which the starter and the finalists are measured: budget is saved for the least number, and no more
 * than the most are run.
 */
export const rounds = { least: 2, most: 5 };

/** Share of the whole budget for the selection. */
const largestShare = 0.25;

/** The most that the selection may use in total. */
export function maxForSelection({ seconds_left, seconds_used, steps_left, steps_used }: Budget): {
  seconds: number;
  steps: number;
} {
  return {
    seconds: largestShare * (seconds_left + seconds_used),
    steps: largestShare * (steps_left + steps_used),
  };
}

/**
 * The budget minus what is saved for measuring versions of these expected seconds on fresh seeds; the whole budget if
 * that would be too much.
 */
export function leftForTries(budget: Budget, versions: readonly number[]): Budget {
  if (versions.length === 0) return budget;
  const seconds = margin * rounds.least * versions.reduce((sum, expected) => sum + expected, 0);
  // Each run is written first; two more steps, because a round begins only if a version can be put back after it.
  const steps = 2 * rounds.least * versions.length + 2;
  const most = maxForSelection(budget);
  if (seconds > most.seconds || steps > most.steps) return budget;
  return { ...budget, seconds_left: budget.seconds_left - seconds, steps_left: budget.steps_left - steps };
}
