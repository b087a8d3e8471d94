import { performance } from 'node:perf_hooks';
import type { Budget, Limits, RunSpec } from '../schema/index.ts';
import { BusyTime } from './busy-time.ts';
import { type Waited, WaitingTime } from './waiting-time.ts';

/** The limit of timers, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;
/** While the clock is stopped, its deadline is checked at most this often. */
const shortestTimerMs = 20;

/** What counts against the time limit: all time, or only time without waiting for language models. */
export type ClockKind = NonNullable<RunSpec['clock']>;

/** The use of language models. */
export interface TokensAndMoney {
  tokens: number;
  /** In US dollars. */
  money: number;
}

const nothing: TokensAndMoney = { tokens: 0, money: 0 };

/** Counts a run's steps and seconds against its limits. Time between sessions of the run does not count. */
export class BudgetClock {
  readonly #limits: Limits;
  readonly #secondsBefore: number;
  readonly #start = performance.now();
  readonly #waiting = new WaitingTime(() => performance.now());
  readonly #modelCalls = new BusyTime(() => performance.now());
  readonly #paused = new BusyTime(() => performance.now());
  readonly #kind: ClockKind;

  /** @param secondsBefore seconds that earlier sessions of the run used */
  constructor(limits: Limits, secondsBefore: number, kind: ClockKind = 'wall') {
    this.#limits = limits;
    this.#secondsBefore = secondsBefore;
    this.#kind = kind;
  }

  get secondsUsed(): number {
    const pausedMs = this.#waiting.milliseconds + this.#paused.milliseconds;
    return this.#secondsBefore + Math.max(0, performance.now() - this.#start - pausedMs) / 1000;
  }

  /** Whether it stops during calls of language models. */
  get pausesForModels(): boolean {
    return this.#kind === 'active';
  }

  /** Seconds during which at least one language model was being called. */
  get modelSeconds(): number {
    return this.#modelCalls.milliseconds / 1000;
  }

  /** Marks the start of a model call; the returned function marks its end. */
  startModelCall(): () => void {
    const ends = [this.#modelCalls.begin(), ...(this.pausesForModels ? [this.pause()] : [])];
    return () => {
      for (const end of ends) end();
    };
  }

  /** Stops the clock until the returned function is called. */
  pause(): () => void {
    return this.#paused.begin();
  }

  get secondsLeft(): number {
    return this.#limits.wall_seconds - this.secondsUsed;
  }

  /**
   * Does something that the run waits for. Time during which everything in the run waits for something external, such
   * as a provider's rate limit or a person, does not count.
   * @param work gets a function to report that it waits
   */
  during<Result>(work: (waited: Waited) => Promise<Result>): Promise<Result> {
    return this.#waiting.during(work);
  }

  /**
   * A signal that is aborted when the run's time is up, or by another signal: as `AbortSignal.any`, whose weak
   * references make V8's collections of memory longer if hundreds of runs need one for each call.
   */
  deadline(stopped?: AbortSignal): Disposable & { signal: AbortSignal } {
    const controller = new AbortController();
    const stop = () => controller.abort(stopped?.reason);
    if (stopped?.aborted) stop();
    else stopped?.addEventListener('abort', stop, { once: true });
    let timer: NodeJS.Timeout;
    const check = () => {
      const left = 1000 * this.secondsLeft;
      if (left <= 0) controller.abort(new Error("the run's time is up"));
      else timer = setTimeout(check, Math.min(Math.max(left, shortestTimerMs), longestTimerMs));
    };
    check();
    return {
      signal: controller.signal,
      [Symbol.dispose]() {
        clearTimeout(timer);
        stopped?.removeEventListener('abort', stop);
      },
    };
  }

  budget(stepsUsed: number, spent: TokensAndMoney = nothing): Budget {
    return budgetOf(this.#limits, stepsUsed, this.secondsUsed, spent);
  }
}

/** The budget before the first step. */
export function wholeBudget(limits: Limits): Budget {
  return budgetOf(limits, 0, 0, nothing);
}

function budgetOf(limits: Limits, stepsUsed: number, secondsUsed: number, spent: TokensAndMoney): Budget {
  const seconds = Math.round(secondsUsed * 1000) / 1000;
  const { tokens, money } = limits;
  return {
    steps_left: limits.steps - stepsUsed,
    seconds_left: Math.max(0, limits.wall_seconds - seconds),
    steps_used: stepsUsed,
    seconds_used: seconds,
    tokens_left: tokens === undefined ? null : Math.max(0, tokens - spent.tokens),
    money_left: money === undefined ? null : Math.max(0, money - spent.money),
  };
}
