import type { Metric } from '../schema/index.ts';

/** Whether higher or lower scores are better. */
export type Direction = Metric['direction'];

/**
 * Improvement over the baseline as the paper defines it (arXiv 2310.03302, section 4): the change relative to the
 * baseline, signed so that better is positive. Divided by the baseline's magnitude, so that the sign holds for
 * negative scores too.
 * @returns a fraction (0.1 is 10 %); null where the baseline is 0 and the ratio means nothing
 */
export function improvement(score: number, baseline: number, direction: Direction): number | null {
  if (baseline === 0) return null;
  const change = (score - baseline) / Math.abs(baseline);
  return direction === 'maximize' ? change : -change;
}

/** A run succeeds when its improvement is beyond the threshold (the paper's: more than 0.1). */
export function isSuccess(gain: number | null, threshold: number): boolean {
  return gain !== null && gain > threshold;
}
