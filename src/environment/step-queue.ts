import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

/**
 * What an agent asks of one branch, done one after another in the order in which it asked. Between two of them the agent
 * gets to know of the first, so that what it asks for next does not depend on how fast the second is.
 */
export class StepQueue {
  readonly #queue = pLimit(1);
  readonly #pauses: () => boolean;

  /** @param pauses whether nobody else sees to it that the agent knows of one thing before the next one comes */
  constructor(pauses: () => boolean) {
    this.#pauses = pauses;
  }

  take<Result>(work: () => Promise<Result>): Promise<Result> {
    const waits = this.#queue.activeCount + this.#queue.pendingCount > 0;
    return this.#queue(async () => {
      if (waits && this.#pauses()) await setImmediate();
      return await work();
    });
  }
}
