import { mean, sampleStandardDeviation } from '../summary.ts';

/** Whether new scores reproduce an earlier score. */
export interface Reproduction {
  verdict: 'reproduced' | 'within_noise' | 'not_reproduced';
  /** The largest difference that counts as chance; null if no spread is known. */
  noise: number | null;
}

/** Relative: what summing in another order may change. */
const tolerance = 1e-6;
/** Standard deviations: 95 % of normal differences lie within. */
const deviations = 2;
/** Fewer scores say little about their spread. */
const fewestForSpread = 3;

/**
 * Compares a score with those of repetitions. The score of one run and the mean of n others differ by chance with a
 * standard deviation of s·√(1 + 1/n), where s is the larger of the starter's spread and, from three on, that of the new
 * scores; twice that counts as noise.
 * @param scores one or more
 * @param spread of the starter over seeds, in the unit of the metric; null: not known
 */
export function reproductionOf(
  score: number,
  scores: readonly number[],
  spread: number | null,
): Reproduction {
  const own = scores.length < fewestForSpread ? null : sampleStandardDeviation(scores);
  const known = [spread, own].filter((one) => one !== null);
  const noise =
    known.length === 0 ? null : deviations * Math.max(...known) * Math.sqrt(1 + 1 / scores.length);
  const difference = Math.abs(mean(scores) - score);
  const isSame = scores.every((one) => Math.abs(one - score) <= tolerance * Math.abs(score));
  if (isSame) return { verdict: 'reproduced', noise };
  return { verdict: difference <= (noise ?? 0) ? 'within_noise' : 'not_reproduced', noise };
}
