import type { Knob } from './knobs.ts';
import type { Ending, IsAffordable, Proposal, Strategy } from './strategy.ts';

/** Tries that all score exactly as the starter, after which the seeds are taken to have no effect. */
const enoughWithoutEffect = 5;

/** A control: the starter as it is, with its seeds raised by 1, 2, 3 and so on. It finds luck, and nothing else. */
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
