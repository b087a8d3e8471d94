import { type Clock, systemClock } from './clock.ts';

export interface LimiterOptions {
  /** Maximum calls at a time: the upper bound. */
  concurrent: number;
  /** Maximum calls begun within any 60 seconds; null: not limited. */
  requestsPerMinute?: number | null;
  /** Waits until a call may begin by a pace that is shared with other processes. Called if there is a pace. */
  sharedPace?: ((pace: CallPace, signal: AbortSignal) => Promise<void>) | undefined;
  clock?: Clock;
}

/** Maximum calls begun within any interval of this length. */
export interface CallPace {
  calls: number;
  milliseconds: number;
}

/** How a call ended, for the limiter. `limited`: the provider refused because of its rate limit. */
export type CallEnd = 'answered' | 'limited' | 'failed' | 'other';

/** The right to make one call. It counts until it is released. */
export interface Slot {
  /**
   * Releases it; a second time does nothing.
   * @param retryAfterMs how long a provider that reported `limited` asked to wait; null if it did not say
   */
  end(how: CallEnd, retryAfterMs?: number | null): void;
}

/** The longest wait of one call for a provider that fails or refuses. */
export const longestWait = 30 * 60_000;

/** How long a call waits for a provider that refuses all calls. */
export interface AcquireTimeout {
  /** When the call was requested, by the clock; default: now. */
  since?: number;
  milliseconds: number;
}

/** The provider refuses calls for longer than the call may wait. */
export class AcquireTimedOut extends Error {
  override readonly name = 'AcquireTimedOut';
  readonly waitMs: number;

  constructor(waitMs: number) {
    super(`the provider takes no calls for another ${Math.ceil(waitMs / 1000)} s`);
    this.waitMs = waitMs;
  }
}

const firstPause = 1000;
const longestPause = 60_000;
const minute = 60_000;

/**
 * Schedules the calls of one provider: in order, and never more at a time than its capacity. Additive increase,
 * multiplicative decrease: the capacity starts at the cap; a rate-limited call halves it and pauses all calls; as many
 * answers as the capacity is large raise it by one.
 *
 * Own code, because p-limit can neither pause nor remove a single call from its queue.
 */
export class CallLimiter {
  readonly #clock: Clock;
  readonly #cap: number;
  readonly #pace: CallPace | null;
  readonly #sharedPace: LimiterOptions['sharedPace'];
  /** When the last calls began, oldest first; as many as the pace needs. */
  readonly #begun: number[] = [];
  readonly #queue: { start: () => void }[] = [];
  #isTurnTaken = false;
  /** Notifies the next call that there may be capacity now. */
  #notifyCapacity: (() => void) | null = null;
  #capacity: number;
  #answersSinceGrowth = 0;
  #active = 0;
  #pausedUntil = Number.NEGATIVE_INFINITY;
  #cutsInARow = 0;
  /**
   * Counts the reductions of the capacity: failures of calls that began before the last one carry no new information.
   */
  #era = 0;
  #refusingSince: number | null = null;

  constructor({ concurrent, requestsPerMinute = null, sharedPace, clock = systemClock }: LimiterOptions) {
    this.#clock = clock;
    this.#sharedPace = sharedPace;
    this.#cap = concurrent;
    this.#capacity = concurrent;
    if (requestsPerMinute === null) this.#pace = null;
    else {
      // 0.5 per minute is one in two minutes; 2.5 per minute are two in 48 seconds.
      const calls = Math.max(1, Math.floor(requestsPerMinute));
      this.#pace = { calls, milliseconds: (minute * calls) / requestsPerMinute };
    }
  }

  /** Calls under way. */
  get active(): number {
    return this.#active;
  }

  /** Calls that may be under way at the moment. */
  get capacity(): number {
    return this.#capacity;
  }

  /** Calls that wait for their turn. */
  get waiting(): number {
    return this.#queue.length + (this.#isTurnTaken ? 1 : 0);
  }

  /**
   * Waits until a call may begin.
   * @throws the signal's reason if it is aborted, AcquireTimedOut if that would take longer than the timeout
   */
  async acquire(signal: AbortSignal, timeout?: AcquireTimeout): Promise<Slot> {
    signal.throwIfAborted();
    const limit = timeout === undefined ? null : { since: this.#clock.now(), ...timeout };
    await this.#acquireTurn(signal);
    try {
      await this.#waitUntilReady(signal, limit);
      if (this.#pace !== null) await this.#sharedPace?.(this.#pace, signal);
      return this.#begin();
    } finally {
      this.#passTurn();
    }
  }

  /** Only the first call in the queue checks the limits, so none can overtake. */
  async #acquireTurn(signal: AbortSignal): Promise<void> {
    if (!this.#isTurnTaken) {
      this.#isTurnTaken = true;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { start: resolve };
    const giveUp = () => {
      const place = this.#queue.indexOf(waiter);
      // A call that already has the turn passes it on at once.
      if (place >= 0) this.#queue.splice(place, 1);
      reject(signal.reason);
    };
    this.#queue.push(waiter);
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
    }
  }

  #passTurn(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#isTurnTaken = false;
    else next.start();
  }

  async #waitUntilReady(signal: AbortSignal, timeout: Required<AcquireTimeout> | null): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const pause = this.#pausedUntil - this.#clock.now();
      if (pause > 0) {
        if (timeout !== null) this.#checkTimeout(timeout, pause);
        await this.#clock.sleep(pause, signal);
      } else if (this.#active >= this.#capacity) await this.#someEnd(signal);
      else {
        const early = this.#tooEarlyBy();
        if (early <= 0) return;
        await this.#clock.sleep(early, signal);
      }
    }
  }

  /** A busy queue is no reason to give up, but a provider that refuses all calls for this long is. */
  #checkTimeout({ since, milliseconds }: Required<AcquireTimeout>, pause: number): void {
    const now = this.#clock.now();
    const refusedFor = now - Math.max(since, this.#refusingSince ?? now);
    if (refusedFor + pause > milliseconds) throw new AcquireTimedOut(pause);
  }

  async #someEnd(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => reject(signal.reason);
    this.#notifyCapacity = resolve;
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#notifyCapacity = null;
    }
  }

  #tooEarlyBy(): number {
    if (this.#pace === null) return 0;
    const oldest = this.#begun[0];
    if (oldest === undefined || this.#begun.length < this.#pace.calls) return 0;
    return oldest + this.#pace.milliseconds - this.#clock.now();
  }

  #begin(): Slot {
    this.#active += 1;
    if (this.#pace !== null) {
      this.#begun.push(this.#clock.now());
      if (this.#begun.length > this.#pace.calls) this.#begun.shift();
    }
    const era = this.#era;
    let isOver = false;
    return {
      end: (how, retryAfterMs = null) => {
        if (isOver) return;
        isOver = true;
        this.#active -= 1;
        this.#learn(how, retryAfterMs, era);
        this.#notifyCapacity?.();
      },
    };
  }

  #learn(how: CallEnd, retryAfterMs: number | null, era: number): void {
    if (how === 'answered') this.#grow(era);
    if (how === 'limited') this.#cut(retryAfterMs, era);
    if (how === 'failed' || how === 'limited') this.#refusingSince ??= this.#clock.now();
  }

  #grow(era: number): void {
    this.#refusingSince = null;
    if (era !== this.#era) return;
    this.#cutsInARow = 0;
    this.#answersSinceGrowth += 1;
    if (this.#answersSinceGrowth < this.#capacity) return;
    this.#answersSinceGrowth = 0;
    this.#capacity = Math.min(this.#cap, this.#capacity + 1);
  }

  #cut(retryAfterMs: number | null, era: number): void {
    // In a burst of calls that were all refused, only the first one reduces the capacity: the others met the same
    // limit.
    if (era === this.#era) {
      this.#era += 1;
      this.#answersSinceGrowth = 0;
      this.#capacity = Math.max(1, Math.floor(this.#capacity / 2));
      const asked = retryAfterMs ?? 0;
      const usual = Math.min(longestPause, firstPause * 2 ** this.#cutsInARow);
      this.#pauseFor(asked < firstPause ? usual : asked);
      this.#cutsInARow += 1;
    } else if (retryAfterMs !== null) this.#pauseFor(retryAfterMs);
  }

  /** A wait that nobody would live to see is followed by a new attempt after the longest one. */
  #pauseFor(milliseconds: number): void {
    const pause = Math.min(milliseconds, longestWait);
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.now() + pause);
  }
}
