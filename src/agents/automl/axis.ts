import type { Knob } from './knobs.ts';
import type { Scale } from './priors.ts';
import { moved, rounded, shareAt, steps } from './scales.ts';

/** What a step of the size 1 multiplies a value of `small` by. */
const smallFactor = 1.5;
/** Where a share of 1 lies: as the steps have it, a little less than 1. */
const almostOne = 0.9;

/** A knob's own scale as a straight line, on which a usual step is one long: decades, logits, doublings, halves. */
export class Axis {
  readonly knob: Knob;
  /** Where a value lies that has no place on its scale (a 0, a share of 1), and beyond which border it is meant. */
  readonly #off: { at: number; border: number } | null;

  constructor(knob: Knob) {
    this.knob = knob;
    this.#off = offOf(knob);
  }

  positionOf(value: number): number {
    if (this.#off !== null && value === this.knob.value) return this.#off.at;
    return positionOn(this.knob.prior.scale, value);
  }

  /** The nearest value that can stand in the script, within the knob's bounds. */
  valueAt(position: number): number {
    const { value, prior } = this.knob;
    if (this.#off !== null && (position - this.#off.border) * (this.#off.at - this.#off.border) >= 0)
      return value;
    const exact = valueOn(prior.scale, position);
    const [least, most] = [Math.min(prior.least, value), Math.max(prior.most, value)];
    return Number.isFinite(exact) ? Math.min(Math.max(exact, least), most) : value;
  }
}

function offOf(knob: Knob): { at: number; border: number } | null {
  const { scale } = knob.prior;
  if (knob.value === 0) {
    const first = positionOn(scale, moved(knob, 0, 1, 1) ?? 1);
    return { at: first - 2, border: first - 1.5 };
  }
  if (scale !== 'fraction' || knob.value < 1) return null;
  const at = positionOn(scale, almostOne);
  return { at, border: at - steps.fraction.least / 2 };
}

function positionOn(scale: Scale, value: number): number {
  switch (scale) {
    case 'log':
      return Math.log10(value);
    case 'fraction': {
      const inside = value < 1 ? value : almostOne;
      return Math.log(inside / (1 - inside));
    }
    case 'count':
      return Math.log2(value);
    case 'small':
      return Math.log(value) / Math.log(smallFactor);
  }
}

function valueOn(scale: Scale, position: number): number {
  switch (scale) {
    case 'log':
      return rounded(10 ** position);
    case 'fraction':
      return shareAt(Math.exp(position));
    case 'count':
      return Math.round(2 ** position);
    case 'small':
      return Math.round(smallFactor ** position);
  }
}
