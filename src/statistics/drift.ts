import { mean, sampleStandardDeviation } from './summary.ts';

/** Mean and spread of a score from one measurement. */
export interface Figures {
  mean: number;
  /** Sample standard deviation. */
  spread: number;
}

/** Relative to the mean: a smaller spread comes from the rounding of sums, not from the scores. */
const roundingOfSums = 1e-12;

export function figuresOf(scores: readonly number[]): Figures {
  const figures = { mean: mean(scores), spread: sampleStandardDeviation(scores) };
  return { ...figures, spread: realSpread(figures) };
}

function realSpread({ mean: center, spread }: Figures): number {
  return spread <= roundingOfSums * Math.abs(center) ? 0 : spread;
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
  return difference / Math.max(realSpread(declared), realSpread(measured));
}
