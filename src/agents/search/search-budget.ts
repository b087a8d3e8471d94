import type { Budget } from '../../schema/index.ts';
import type { Allotment, BranchView } from './branch-view.ts';

/** The limits of a run as a search uses them up. */
export class SearchBudget {
  /** After the last known step. */
  now: Budget;
  isOver = false;
  readonly whole: Allotment;
  readonly #before: Budget;

  /** @param before the budget before the first step */
  constructor(before: Budget) {
    this.now = before;
    this.#before = before;
    const { seconds_left, seconds_used, steps_left, steps_used } = before;
    this.whole = { seconds: seconds_left + seconds_used, steps: steps_left + steps_used };
  }

  get left(): Allotment {
    return { seconds: this.now.seconds_left, steps: this.now.steps_left };
  }

  /** Whether the whole time is enough for so many runs of a script. */
  affordsRuns(count: number, seconds: number): boolean {
    return this.whole.seconds >= count * seconds;
  }

  get hasModelCalls(): boolean {
    const { tokens_left: tokens, money_left: money } = this.now;
    return (tokens === null || tokens > 0) && (money === null || money > 0);
  }

  /**
   * How much is used of the limit that will be reached first, from 0 to 1. Tokens and money count only if they are
   * limited.
   */
  get largestShare(): number {
    const { tokens_left: tokens, money_left: money } = this.#before;
    const now = this.now;
    return Math.max(
      shareOf(now.steps_used, this.whole.steps),
      shareOf(now.seconds_used, this.whole.seconds),
      tokens === null ? 0 : shareOf(tokens - (now.tokens_left ?? tokens), tokens),
      money === null ? 0 : shareOf(money - (now.money_left ?? money), money),
    );
  }

  /** Takes the state of the run from a branch. Parallel branches end in any order: the later state counts. */
  follow(view: BranchView): void {
    if (view.runBudget.seconds_used >= this.now.seconds_used) this.now = view.runBudget;
    this.isOver ||= view.runIsOver;
  }
}

function shareOf(part: number, whole: number): number {
  return whole <= 0 ? 1 : Math.min(1, Math.max(0, part / whole));
}
