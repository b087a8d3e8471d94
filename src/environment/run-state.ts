import type { Ending } from './ending.ts';

/** How a run ended and what the harness could not do, as all of its parts know it. The first of each counts. */
export class RunState {
  readonly #listeners: ((error: unknown) => void)[] = [];
  #ending: Ending | null = null;
  #failure: { error: unknown } | null = null;

  /** Null while the run goes on. */
  get ending(): Ending | null {
    return this.#ending;
  }

  end(ending: Ending): void {
    this.#ending ??= ending;
  }

  /** Why nothing more can be done; null while all is well. */
  get failure(): { error: unknown } | null {
    return this.#failure;
  }

  /** What is not the agent's fault: every later thing that it asks for throws it, so that no agent can go on from it. */
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
