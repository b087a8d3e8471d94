import type { ProposedAction } from './gate.ts';

/**
 * Everything in a run waits for decisions: its session ends, so that it holds no resources, and another one begins once
 * there is a decision.
 */
export class RunWaits extends Error {
  override readonly name = 'RunWaits';
  readonly proposed: readonly ProposedAction[];

  constructor(proposed: readonly ProposedAction[]) {
    const actions = proposed.map(({ name, step }) => `"${name}" (step ${step})`);
    super(`The run waits for a decision on ${actions.join(', ')}.`);
    this.proposed = proposed;
  }
}

export interface GateWaitsOptions {
  /** In milliseconds; absent: a session waits as long as a decision takes. */
  longest: number | undefined;
  /** How many requests of the run are being served now. */
  underWay: () => number;
  onOver: (error: RunWaits) => void;
}

/** The actions of a run that wait for the gate now. */
export class GateWaits {
  readonly #options: GateWaitsOptions;
  readonly #proposed = new Set<ProposedAction>();
  readonly #over = new AbortController();
  #timer: NodeJS.Timeout | null = null;

  constructor(options: GateWaitsOptions) {
    this.#options = options;
  }

  /** @param work gets a signal that is aborted when the wait is given up */
  async during<Result>(
    proposed: ProposedAction,
    work: (over: AbortSignal) => Result | Promise<Result>,
  ): Promise<Result> {
    this.#proposed.add(proposed);
    this.#watch();
    try {
      return await work(this.#over.signal);
    } finally {
      this.#proposed.delete(proposed);
    }
  }

  /** Checks repeatedly: other work may end, or begin, at any time. */
  #watch(): void {
    const { longest, underWay, onOver } = this.#options;
    if (longest === undefined || this.#timer !== null) return;
    const count = this.#proposed.size;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#proposed.size === 0 || this.#over.signal.aborted) return;
      if (count !== this.#proposed.size || underWay() > count) return this.#watch();
      const error = new RunWaits([...this.#proposed]);
      onOver(error);
      this.#over.abort(error);
    }, longest);
  }
}
