import { setImmediate } from 'node:timers/promises';
import pLimit from 'p-limit';

/**
 * Serves an agent's requests for one branch in order. Between two of them the agent learns the result of the first, so
 * that its next request does not depend on how fast the second is.
 */
export class StepQueue {
  readonly #queue = pLimit(1);
  readonly #pauses: () => boolean;

  /**
   * @param pauses whether this queue must make sure that the agent learns of one result before the next request is
   *   served
   */
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
