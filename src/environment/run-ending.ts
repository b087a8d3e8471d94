import type { Ending } from './ending.ts';

/** The end of a run and its infrastructure failure, shared by all of its parts. Only the first of each counts. */
export class RunEnding {
  readonly #listeners: ((error: unknown) => void)[] = [];
  #ending: Ending | null = null;
  #failure: { error: unknown } | null = null;

  /** Null while the run is running. */
  get ending(): Ending | null {
    return this.#ending;
  }

  end(ending: Ending): void {
    this.#ending ??= ending;
  }

  /** Why nothing more can be done; null if there is no failure. */
  get failure(): { error: unknown } | null {
    return this.#failure;
  }

  /**
   * Records a failure that is not the agent's fault: every later request of the agent throws it, so that no agent can
   * go on from it.
   */
  fail(error: unknown): void {
    if (this.#failure !== null) return;
    this.#failure = { error };
    for (const listener of this.#listeners) listener(error);
  }

  onFailure(listener: (error: unknown) => void): void {
    this.#listeners.push(listener);
  }

  throwIfFailed(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }
}
