import type { Knob } from './knobs.ts';
import type { Ending, IsAffordable, Proposal, Strategy } from './strategy.ts';

/** After this many tries that all score exactly like the starter, the seeds are assumed to have no effect. */
const enoughWithoutEffect = 5;

/** A control: the unchanged starter, with its seeds raised by 1, 2, 3 and so on. It finds luck, and nothing else. */
export class SeedSearch implements Strategy {
  readonly #values: readonly number[];
  #offset = 0;
  #hasEffect = false;

  constructor(knobs: readonly Knob[]) {
    this.#values = knobs.map(({ value }) => value);
  }

  next(isAffordable: IsAffordable): Proposal | null {
    const isIdle = !this.#hasEffect && this.#offset >= enoughWithoutEffect;
    if (isIdle || !isAffordable(this.#values)) return null;
    this.#offset += 1;
    return {
      values: this.#values,
      seedOffset: this.#offset,
      change: `every seed raised by ${this.#offset}, and nothing else.`,
      reason: 'the same script with other luck.',
    };
  }

  tell(_proposal: Proposal, ending: Ending): void {
    if (ending !== 'without effect') this.#hasEffect = true;
  }
}
