import type { Knob } from './knobs.ts';
import type { Scale } from './priors.ts';

export type StepDirection = 1 | -1;

/**
 * Steps on each scale: in decades, in logits, in doublings, in halves of the value. The first step is coarse: it
 * quickly shows values that are far off, and steps are halved later.
 */
export const steps: Readonly<Record<Scale, { first: number; most: number; least: number }>> = {
  log: { first: 1, most: 1, least: 0.125 },
  fraction: { first: 1, most: 2, least: 0.25 },
  count: { first: 1, most: 2, least: 0.25 },
  small: { first: 1, most: 2, least: 0.25 },
};

/** The value one step away, within the knob's bounds; null if there is none. */
export function moved(knob: Knob, value: number, direction: StepDirection, step: number): number | null {
  const { scale, least, most, fromZero } = knob.prior;
  if (scale === 'fraction' && value >= 1 && direction === 1) return null;
  if (value === 0) return direction === 1 ? fromZero : null;
  const next = unbounded(scale, value, direction * step);
  const bounded = Math.min(Math.max(next, Math.min(least, knob.value)), Math.max(most, knob.value));
  return bounded === value || !Number.isFinite(bounded) ? null : bounded;
}

function unbounded(scale: Scale, value: number, step: number): number {
  switch (scale) {
    case 'log':
      return rounded(value * 10 ** step);
    case 'fraction': {
      // The logit of 1 is not defined, so 1 counts as a little less.
      const inside = value < 1 ? value : 0.9;
      return shareAt((inside / (1 - inside)) * Math.E ** step);
    }
    case 'count': {
      const next = Math.round(value * 2 ** step);
      return next === value ? value + Math.sign(step) : next;
    }
    case 'small':
      return value + Math.sign(step) * Math.max(1, Math.round((value * Math.abs(step)) / 2));
  }
}

/** The share with these odds; its distance from the nearer end is rounded. */
function shareAt(odds: number): number {
  const share = odds / (1 + odds);
  return share < 0.5 ? rounded(share) : rounded(1 - rounded(1 - share), 6);
}

/** Rounded to this many significant digits. */
function rounded(value: number, digits = 2): number {
  return Number(value.toPrecision(digits));
}

/** A Python literal of a value, whole if the starter's was and the scale requires it. */
export function literalOf(knob: Knob, value: number): string {
  if (value === knob.value) return knob.literal;
  if (knob.prior.scale === 'count' || knob.prior.scale === 'small') return String(Math.round(value));
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
