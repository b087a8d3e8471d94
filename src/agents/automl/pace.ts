import type { Allotment, BranchView } from '../search/branch-view.ts';
import { rounds, selectionShare } from '../search/fresh-seeds.ts';
import { SearchBudget } from '../search/search-budget.ts';

/** Run times vary: a try may take this many times its expected time. */
const margin = 1.15;
/** Seconds for the steps that run nothing. */
const slack = 4;
/** To check a version, to write the best one without the line that stops it, and to answer. */
const lastSteps = 3;
/** A try is stopped after this many times its expected time, and not before this many seconds. */
const patience = { times: 4, seconds: 10 };

/** Keeps a run within its budget: how much a try may cost, and what must be left for the end. */
export class Pace {
  readonly #view: BranchView;
  #limit = Number.POSITIVE_INFINITY;

  constructor(view: BranchView) {
    this.#view = view;
  }

  /** The share of the budget that was used, of the limit that will be reached first. */
  get used(): number {
    return new SearchBudget(this.#view.left).largestShare;
  }

  /** Learns that a script was stopped after this time, so that nothing as slow is tried again. */
  learnLimit(seconds: number): void {
    this.#limit = Math.min(this.#limit, seconds);
  }

  /** Whether there is enough for `runs` runs of `expected` seconds each, for the end, and for what is saved. */
  affords(expected: number, runs = 1, saved: Allotment = { seconds: 0, steps: 0 }): boolean {
    const { seconds_left, steps_left } = this.#view.left;
    return (
      expected * margin < this.#limit &&
      margin * expected * runs + slack + saved.seconds <= seconds_left &&
      // Each run is written first.
      2 * runs + lastSteps + saved.steps <= steps_left
    );
  }

  /** Seconds after which a try is stopped. */
  limitOf(expected: number): number {
    const most = this.#view.left.seconds_left - slack;
    return Math.max(1, Math.ceil(Math.min(most, Math.max(patience.seconds, patience.times * expected))));
  }

  /** What the selection between two versions that take so long together needs; nothing if that would be too much. */
  savedForSelection(secondsOfBoth: number): Allotment {
    const { whole } = new SearchBudget(this.#view.left);
    const seconds = margin * rounds.least * secondsOfBoth;
    const steps = 4 * rounds.least + 2;
    const isTooMuch = seconds > selectionShare * whole.seconds || steps > selectionShare * whole.steps;
    return isTooMuch ? { seconds: 0, steps: 0 } : { seconds, steps };
  }
}
