import { areEqual, mean, sampleStandardDeviation } from './summary.ts';

/** Mean and spread of a score from one measurement. */
export interface Figures {
  mean: number;
  /** Sample standard deviation. */
  spread: number;
}

export function figuresOf(scores: readonly number[]): Figures {
  return { mean: mean(scores), spread: sampleStandardDeviation(scores) };
}

/** Declared figures are rounded: smaller relative differences are ignored. */
const rounding = 1e-3;

/**
 * How far a new mean is from a declared one, in spreads. The larger of the two spreads counts, because either may be
 * based on few seeds.
 * @returns 0 if the means are equal except for rounding; infinity if they differ and neither has a spread
 */
export function driftInSpreads(declared: Figures, measured: Figures): number {
  const difference = Math.abs(measured.mean - declared.mean);
  if (difference <= rounding * Math.max(Math.abs(declared.mean), Math.abs(measured.mean))) return 0;
  const spread = Math.max(declared.spread, measured.spread);
  // Figures of earlier versions have spreads that come from the rounding of sums alone.
  return areEqual([declared.mean, declared.mean + spread]) ? Number.POSITIVE_INFINITY : difference / spread;
}
