import type { Workspace } from '../common/workspace.ts';
import { rounds, selectionShare } from '../search/fresh-seeds.ts';
import { SearchBudget } from '../search/search-budget.ts';

/** Run times vary: a try may take this many times its expected time. */
const margin = 1.15;
/** The last run decides what is submitted, so more time is kept for it. */
const lastMargin = 2;
/** Seconds for the steps that run nothing. */
const slack = 4;
/** A try is stopped after this many times its expected time, and not before this many seconds. */
const patience = { times: 4, seconds: 10 };

/** Seconds and steps of a run. */
interface Cost {
  seconds: number;
  steps: number;
}

/** Keeps a run within its budget: how much a try may cost, and what must be left for the end. */
export class Pace {
  readonly #workspace: Workspace;
  #limit = Number.POSITIVE_INFINITY;

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Learns that a script was stopped after this time, so that nothing as slow is tried again. */
  learnLimit(seconds: number): void {
    this.#limit = Math.min(this.#limit, seconds);
  }

  /**
   * Whether there is enough for `runs` runs of `expected` seconds each, for a last run of `last` seconds, to check and to
   * answer, and for what is saved.
   */
  affords(expected: number, runs: number, last: number, saved: Cost = { seconds: 0, steps: 0 }): boolean {
    const { seconds_left, steps_left } = this.#workspace.budget;
    const files = this.#workspace.task.submission.files.length;
    const seconds = margin * expected * runs + lastMargin * last + slack;
    // Each run is written first. One is checked and copied; the best version is put back, checked and answered with.
    const steps = 2 * runs + (1 + files) + (1 + files + 2);
    return (
      expected * margin < this.#limit &&
      seconds + saved.seconds <= seconds_left &&
      steps + saved.steps <= steps_left
    );
  }

  /** Seconds after which a try is stopped, so that a last run of `last` seconds is still possible. */
  limitOf(expected: number, last: number): number {
    const most = this.#workspace.budget.seconds_left - lastMargin * last - slack;
    return Math.max(1, Math.ceil(Math.min(most, Math.max(patience.seconds, patience.times * expected))));
  }

  /** What the selection between two versions that take so long together needs; nothing if that would be too much. */
  savedForSelection(secondsOfBoth: number): Cost {
    const { seconds_left, seconds_used, steps_left, steps_used } = this.#workspace.budget;
    const seconds = margin * rounds.least * secondsOfBoth;
    const steps = 4 * rounds.least + 2;
    const isTooMuch =
      seconds > selectionShare * (seconds_left + seconds_used) ||
      steps > selectionShare * (steps_left + steps_used);
    return isTooMuch ? { seconds: 0, steps: 0 } : { seconds, steps };
  }
}

/** The share of the budget that was used, of the limit that will be reached first. */
export function usedShare({ budget }: Workspace): number {
  return new SearchBudget(budget).largestShare;
}
