import type { NumberTries, SearchedNumbers } from './climb.ts';
import { moved, steps } from './scales.ts';

/** After this many draws in a row that were tried before or cost too much, it gives up. */
const maxDraws = 200;
/** It draws from up to this many of the largest steps away from the starter's value. */
const reach = 2;

/**
 * The search baseline: draws all numbers at once, each independently and uniformly on its own scale, as in Bergstra and
 * Bengio, Random Search for Hyper-Parameter Optimization (JMLR 13, 2012). It learns nothing from results.
 */
export function* drawAtRandom({ knobs, mayTry }: SearchedNumbers, random: () => number): NumberTries {
  for (let draws = 0; draws < maxDraws; draws += 1) {
    // What is switched off (0, or a share of 1) can go one way only: it stays off half of the time.
    const values = knobs.map((knob) => {
      const step = (2 * random() - 1) * reach * steps[knob.prior.scale].most;
      return moved(knob, knob.value, step < 0 ? -1 : 1, Math.abs(step)) ?? knob.value;
    });
    if (!mayTry(values)) continue;
    draws = -1;
    yield { values, reason: 'all numbers are drawn at random, from the ranges of their names.' };
  }
}
