import { setTimeout as delay } from 'node:timers/promises';

/** Time and randomness for waiting; tests provide their own. */
export interface Clock {
  /** Milliseconds since some moment; never runs backwards. */
  now(): number;
  /** @throws the signal's reason if it is aborted */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>;
  /** In [0, 1). */
  random(): number;
}

/** The longest timer in Node; longer waits are split. */
const longestTimer = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  async sleep(milliseconds, signal) {
    try {
      await delay(Math.min(milliseconds, longestTimer), undefined, { signal });
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    }
  },
  random: () => Math.random(),
};
