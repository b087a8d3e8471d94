import type { Knob } from './knobs.ts';
import { drawn } from './scales.ts';
import type { IsAffordable, ProposedNumbers, Strategy } from './strategy.ts';

/** After this many consecutive draws that were tried before or cost too much, it gives up. */
const maxDraws = 200;

/**
 * The search baseline: draws all numbers at once, each independently and uniformly on its own scale, as in Bergstra and
 * Bengio, Random Search for Hyper-Parameter Optimization (JMLR 13, 2012). It learns nothing from results.
 */
export class RandomSearch implements Strategy {
  readonly #knobs: readonly Knob[];
  readonly #random: () => number;
  readonly #seen = new Set<string>();

  constructor(knobs: readonly Knob[], random: () => number) {
    this.#knobs = knobs;
    this.#random = random;
    this.#seen.add(knobs.map(({ value }) => value).join(' '));
  }

  next(isAffordable: IsAffordable): ProposedNumbers | null {
    for (let draw = 0; draw < maxDraws; draw += 1) {
      const values = this.#knobs.map((knob) => drawn(knob, this.#random));
      const key = values.join(' ');
      if (this.#seen.has(key) || !isAffordable(values)) continue;
      this.#seen.add(key);
      return { values, reason: 'all numbers are drawn at random, from the ranges of their names.' };
    }
    return null;
  }

  tell(): void {}
}
