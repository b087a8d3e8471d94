import type { Budget } from '../../schema/index.ts';

/**
 * How much of each of a run's limits is used, as shares from 0 to 1. Tokens and money count only if they are limited.
 */
export class BudgetShares {
  readonly #whole: Budget;

  /** @param whole the budget before the first step */
  constructor(whole: Budget) {
    this.#whole = whole;
  }

  /** The largest share: that of the limit which will be reached first. */
  largest(now: Budget): number {
    const { tokens_left: tokens, money_left: money } = this.#whole;
    return Math.max(
      shareOf(now.steps_used, now.steps_used + now.steps_left),
      shareOf(now.seconds_used, now.seconds_used + now.seconds_left),
      tokens === null ? 0 : shareOf(tokens - (now.tokens_left ?? tokens), tokens),
      money === null ? 0 : shareOf(money - (now.money_left ?? money), money),
    );
  }
}

function shareOf(part: number, whole: number): number {
  return whole <= 0 ? 1 : Math.min(1, Math.max(0, part / whole));
}
