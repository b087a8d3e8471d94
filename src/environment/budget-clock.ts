import { performance } from 'node:perf_hooks';
import type { Budget, Limits } from '../schema/index.ts';

/** Counts a run's steps and seconds against its limits. Time while the run was not being worked on does not count. */
export class BudgetClock {
  readonly #limits: Limits;
  readonly #secondsBefore: number;
  readonly #start = performance.now();

  /** @param secondsBefore seconds that earlier sessions of the run used */
  constructor(limits: Limits, secondsBefore: number) {
    this.#limits = limits;
    this.#secondsBefore = secondsBefore;
  }

  get secondsUsed(): number {
    return this.#secondsBefore + (performance.now() - this.#start) / 1000;
  }

  get secondsLeft(): number {
    return this.#limits.wall_seconds - this.secondsUsed;
  }

  budget(stepsUsed: number): Budget {
    const used = this.secondsUsed;
    return { ...wholeBudget(this.#limits), ...sharesOf(this.#limits, stepsUsed, used) };
  }
}

/** The budget before the first step. */
export function wholeBudget(limits: Limits): Budget {
  return { ...sharesOf(limits, 0, 0), tokens_left: null, money_left: null };
}

function sharesOf(limits: Limits, stepsUsed: number, secondsUsed: number) {
  const seconds = Math.round(secondsUsed * 1000) / 1000;
  return {
    steps_left: limits.steps - stepsUsed,
    seconds_left: Math.max(0, limits.wall_seconds - seconds),
    steps_used: stepsUsed,
    seconds_used: seconds,
  };
}
