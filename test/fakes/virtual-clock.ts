import type { Clock } from '../../src/models/index.ts';

/** A clock that jumps to the next awaited time: hours pass in milliseconds, the same way every time. */
export class VirtualClock implements Clock {
  #now = 0;
  readonly #sleepers: { until: number; wake: () => void }[] = [];
  readonly #random: () => number;

  constructor(random: () => number = () => 0.5) {
    this.#random = random;
  }

  now(): number {
    return this.#now;
  }

  random(): number {
    return this.#random();
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const sleeper = { until: this.#now + milliseconds, wake: resolve };
    this.#sleepers.push(sleeper);
    const giveUp = () => {
      this.#forget(sleeper);
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', giveUp, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', giveUp);
    }
  }

  /**
   * Lets time pass until the promise is settled.
   * @throws Error if nobody sleeps any more and it is not settled: then it never would be
   */
  async run<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const watched = promise.finally(() => {
      isSettled = true;
    });
    watched.catch(() => {});
    for (;;) {
      // Everything that can happen without time passing happens first.
      await new Promise((resolve) => setImmediate(resolve));
      if (isSettled) return watched;
      const next = this.#sleepers.reduce<{ until: number; wake: () => void } | null>(
        (first, sleeper) => (first === null || sleeper.until < first.until ? sleeper : first),
        null,
      );
      if (next === null) throw new Error('everybody waits, and nobody for the time');
      this.#forget(next);
      this.#now = Math.max(this.#now, next.until);
      next.wake();
    }
  }

  #forget(sleeper: { until: number; wake: () => void }): void {
    const index = this.#sleepers.indexOf(sleeper);
    if (index >= 0) this.#sleepers.splice(index, 1);
  }
}
