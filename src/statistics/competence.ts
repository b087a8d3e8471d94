import type { Grade, Metric, ScoreFigures, ScoringReference } from '../schema/index.ts';
import { studentQuantile } from './numeric/distributions.ts';

/** Whether higher or lower scores are better. */
export type Direction = Metric['direction'];

/** Beyond it a ratio says nothing, and sums and squares of such numbers overflow. */
const largestRatio = 1e100;

function meaningfulRatio(ratio: number): number | null {
  // No negative zero.
  return Math.abs(ratio) <= largestRatio ? ratio + 0 : null;
}

/**
 * Improvement over the baseline as the paper defines it (arXiv 2310.03302, section 4): the change relative to the
 * baseline, signed so that better is positive. Divided by the baseline's magnitude, so that the sign holds for negative
 * scores too.
 * @returns a fraction (0.1 is 10 %); null if the ratio has no meaning, since the baseline is 0 or tiny beside the score
 */
export function improvement(score: number, baseline: number, direction: Direction): number | null {
  if (baseline === 0) return null;
  const change = (score - baseline) / Math.abs(baseline);
  return meaningfulRatio(direction === 'maximize' ? change : -change);
}

/** Improvement of a graded submission over its baseline; null if it is not valid. */
export function improvementOf(grade: Pick<Grade, 'score' | 'baseline' | 'direction'>): number | null {
  return grade.score === null ? null : improvement(grade.score, grade.baseline, grade.direction);
}

/** An improvement is a ratio of decimal fractions: 0.55 over 0.5 is 10 % and no more, whatever a computer makes of it. */
const rounding = 1e-9;

/** A run succeeds if its improvement is beyond the threshold (the paper's: more than 0.1), not if it is equal. */
export function isSuccess(gain: number | null, threshold: number): boolean {
  return gain !== null && gain > threshold + rounding;
}

/**
 * The position of a score between baseline (0) and reference (1), extrapolated beyond both. If the baseline was
 * measured beside the submission and differs from the task's, the value is the ratio of both improvements: it is the
 * same number, and does not depend on the speed of the machine.
 * @returns null if no reference is known, or it is no better than the baseline
 */
export function normalisedScore(
  score: number,
  baseline: number,
  { direction, baseline: declared, reference }: ScoringReference,
): number | null {
  if (reference === null) return null;
  const sign = direction === 'maximize' ? 1 : -1;
  const whole = sign * (reference.mean - declared.mean);
  if (whole <= 0) return null;
  if (baseline === declared.mean) return meaningfulRatio((sign * (score - baseline)) / whole);
  const [gain, wholeGain] = [
    improvement(score, baseline, direction),
    improvement(reference.mean, declared.mean, direction),
  ];
  return gain === null || wholeGain === null ? null : meaningfulRatio(gain / wholeGain);
}

/**
 * How far one more run of the starter may be from the mean of those measured: half the 95 % prediction interval, t · s
 * · √(1 + 1/n) (Hahn & Meeker 1991, Statistical Intervals), as a fraction of the mean.
 * @returns 0 if the baseline does not vary; null if its spread is unknown, was taken from a single seed, or the mean is
 *   0
 */
export function baselineNoise({ mean, spread, seeds }: ScoreFigures): number | null {
  if (mean === 0) return null;
  if (spread === 0) return 0;
  if (spread === null || seeds === null || seeds < 2) return null;
  return (studentQuantile(0.975, seeds - 1) * spread * Math.sqrt(1 + 1 / seeds)) / Math.abs(mean);
}
