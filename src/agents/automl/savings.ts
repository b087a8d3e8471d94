import type { Budget } from '../../schema/index.ts';
import { margin } from './pace.ts';

/** Fresh seeds on which the starter and the finalists are measured: so many are saved up for, and no more are run. */
export const rounds = { least: 2, most: 5 };

/** Of the whole budget, for the selection. */
const largestShare = 0.25;

/** What the selection may use in all. */
export function mostForSelection({ seconds_left, seconds_used, steps_left, steps_used }: Budget): {
  seconds: number;
  steps: number;
} {
  return {
    seconds: largestShare * (seconds_left + seconds_used),
    steps: largestShare * (steps_left + steps_used),
  };
}

/** The budget less what is saved up to measure versions of these expected seconds on fresh seeds; all where that is too much. */
export function leftForTries(budget: Budget, versions: readonly number[]): Budget {
  if (versions.length === 0) return budget;
  const seconds = margin * rounds.least * versions.reduce((sum, expected) => sum + expected, 0);
  // Each run is written first; two more, because a round is begun only with room for a version to be put back.
  const steps = 2 * rounds.least * versions.length + 2;
  const most = mostForSelection(budget);
  if (seconds > most.seconds || steps > most.steps) return budget;
  return { ...budget, seconds_left: budget.seconds_left - seconds, steps_left: budget.steps_left - steps };
}
