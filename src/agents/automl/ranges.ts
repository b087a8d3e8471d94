import type { Knob } from './knobs.ts';
import { moved, rounded, steps } from './scales.ts';

/** The values of a knob that a random search draws from, both ends included. */
export interface Range {
  least: number;
  most: number;
}

/** This many of the climb's largest steps away from the starter's value: both searches look in the same places. */
const reach = 2;

/** From two of the largest steps below the starter's value to two above it, within the prior's bounds. */
export function rangeOf(knob: Knob): Range {
  const largest = steps[knob.prior.scale].most;
  let [least, most] = [knob.value, knob.value];
  for (let step = 0; step < reach; step += 1) {
    least = moved(knob, least, -1, largest) ?? least;
    most = moved(knob, most, 1, largest) ?? most;
  }
  return { least, most };
}

/**
 * A value between the ends of a knob's range, uniform on the knob's own scale. A value that its scale cannot express
 * (0 where a share or a penalty is off, a share of 1) is kept half of the time.
 */
export function drawn(knob: Knob, random: () => number): number {
  const range = rangeOf(knob);
  const isOffScale = knob.value === 0 || (knob.prior.scale === 'fraction' && knob.value >= 1);
  // Always two draws: the draw of one knob must not depend on the starter's value of another.
  const [stays, place] = [random() < 0.5, random()];
  if (isOffScale && stays) return knob.value;
  const [least, most] = isOffScale ? insideOf(knob, range) : [range.least, range.most];
  const value = between(knob, least, most, place);
  return Math.min(Math.max(value, least), most);
}

function insideOf(knob: Knob, { least, most }: Range): [number, number] {
  const largest = steps[knob.prior.scale].most;
  if (knob.value > 0) return [least, moved(knob, knob.value, -1, steps.fraction.least) ?? least];
  const first = moved(knob, 0, 1, largest);
  return first === null ? [knob.value, knob.value] : [first / 10, most];
}

function between(knob: Knob, least: number, most: number, place: number): number {
  const mix = (from: number, to: number) => from + (to - from) * place;
  switch (knob.prior.scale) {
    case 'small':
      return Math.floor(mix(least, most + 1));
    case 'count':
      return Math.round(Math.exp(mix(Math.log(least), Math.log(most))));
    case 'log':
      return rounded(Math.exp(mix(Math.log(least), Math.log(most))));
    case 'fraction': {
      const odds = Math.exp(mix(logit(least), logit(most)));
      return rounded(odds / (1 + odds), 3);
    }
  }
}

function logit(share: number): number {
  return Math.log(share / (1 - share));
}
