import type { Budget } from '../../schema/index.ts';
import type { Knob } from './knobs.ts';

/** Run times vary: a run may take this many times what is expected. */
export const margin = 1.5;
/** Seconds for the steps that run nothing. */
const slack = 2;
/** Write File, Execute Script, Validate Submission, Final Answer. */
const lastSteps = 4;

/** Keeps a run within its budget: what a try may cost, and what must be left for the end. */
export class Pace {
  readonly #knobs: readonly Knob[];
  #limit = Number.POSITIVE_INFINITY;
  #known: { values: readonly number[]; seconds: number } | null = null;

  constructor(knobs: readonly Knob[]) {
    this.#knobs = knobs;
  }

  /** Learns how long the best version takes. */
  learn(values: readonly number[], seconds: number): void {
    this.#known = { values, seconds };
  }

  /** Learns that a script is stopped after this long, so that nothing as slow is tried again. */
  learnLimit(seconds: number): void {
    this.#limit = Math.min(this.#limit, seconds);
  }

  /** Expected seconds of one run: those of the best version, scaled by the knobs that make a script work longer. */
  expected(values: readonly number[]): number {
    if (this.#known === null) return 0;
    let seconds = this.#known.seconds;
    for (const [place, knob] of this.#knobs.entries()) {
      const from = this.#known.values[place] ?? 0;
      const to = values[place] ?? 0;
      if (from > 0 && to > 0) seconds *= (to / from) ** knob.prior.effort;
    }
    return seconds;
  }

  /** Whether `runs` runs with these values leave enough to run the best version again, check it and answer. */
  affords(values: readonly number[], runs: number, budget: Budget): boolean {
    const expected = this.expected(values);
    const reserve = Math.max(this.#known?.seconds ?? 0, expected);
    const seconds = margin * (expected * runs + reserve) + slack;
    // Each run is written first; one of them is checked, and a bad version is put back.
    return (
      expected * margin < this.#limit &&
      seconds <= budget.seconds_left &&
      runs * 2 + 2 + lastSteps <= budget.steps_left
    );
  }

  /** Whether the version of these values can be run once more, with steps for the answer left. */
  affordsLastRun(values: readonly number[], steps: number, budget: Budget): boolean {
    return this.expected(values) <= budget.seconds_left && steps + 1 <= budget.steps_left;
  }
}
