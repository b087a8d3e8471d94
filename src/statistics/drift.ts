/** Mean and spread of a score, as they were measured at some time. */
export interface Figures {
  mean: number;
  /** Sample standard deviation. */
  spread: number;
}

/** Declared figures are rounded: a relative difference below this is none. */
const rounding = 1e-3;

/**
 * How far a new mean lies from a declared one, in spreads: the larger of the two spreads counts, for either may rest
 * on few seeds.
 * @returns 0 where the means agree but for rounding; infinity where they differ and neither has a spread
 */
export function driftInSpreads(declared: Figures, measured: Figures): number {
  const difference = Math.abs(measured.mean - declared.mean);
  if (difference <= rounding * Math.max(Math.abs(declared.mean), Math.abs(measured.mean))) return 0;
  return difference / Math.max(declared.spread, measured.spread);
}
