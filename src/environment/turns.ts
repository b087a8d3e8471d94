import pLimit from 'p-limit';

/**
 * What an agent asks its environment for, done one after another in the order in which it asked, so that a resumed run can
 * be led through it again. What could not be done for a reason that is not the agent's is thrown by every later turn: no
 * agent can go on from it or take it for its own fault.
 */
export class Turns {
  readonly #queue = pLimit(1);
  #failure: { error: unknown } | null = null;

  /** Why nothing more can be done; null while all is well. */
  get failure(): { error: unknown } | null {
    return this.#failure;
  }

  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  take<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    const result = this.#queue(async () => {
      try {
        if (this.#failure !== null) throw this.#failure.error;
        return await work();
      } catch (error) {
        this.fail(error);
        throw error;
      }
    });
    // It is kept as the failure: an agent that never looks at the result does not end the process.
    result.catch(() => {});
    return result;
  }
}
