import type { ScoreFigures } from '../../schema/index.ts';
import { studentQuantile } from '../numeric/distributions.ts';
import { mean, sampleStandardDeviation } from '../summary.ts';

/** Whether new scores reproduce an earlier score. */
export interface Reproduction {
  verdict: 'reproduced' | 'within_noise' | 'not_reproduced';
  /** The largest difference that counts as chance; null if no spread is known. */
  noise: number | null;
}

/** Relative: what summing in another order may change. */
const tolerance = 1e-6;
/** Fewer scores say little about their spread. */
const fewestForSpread = 3;

/**
 * Compares a score with those of repetitions. The score of one run and the mean of n others differ by chance with a
 * standard deviation of s·√(1 + 1/n). A spread s that was measured on k scores is known badly itself: Student's 97.5 %
 * quantile with k − 1 degrees of freedom times that deviation counts as noise. Of the starter's spread and, from three
 * on, that of the new scores, the one counts that allows more.
 * @param scores one or more
 * @param starter its spread over seeds, in the unit of the metric
 */
export function reproductionOf(
  score: number,
  scores: readonly number[],
  starter: Pick<ScoreFigures, 'spread' | 'seeds'>,
): Reproduction {
  const own = scores.length < fewestForSpread ? null : sampleStandardDeviation(scores);
  const known = [chanceOf(starter.spread, starter.seeds ?? 0), chanceOf(own, scores.length)].filter(
    (one) => one !== null,
  );
  const noise = known.length === 0 ? null : Math.max(...known) * Math.sqrt(1 + 1 / scores.length);
  const difference = Math.abs(mean(scores) - score);
  const isSame = scores.every((one) => Math.abs(one - score) <= tolerance * Math.abs(score));
  if (isSame) return { verdict: 'reproduced', noise };
  return { verdict: difference <= (noise ?? 0) ? 'within_noise' : 'not_reproduced', noise };
}

/** How far chance may take one score, by a spread that was measured on so many; null if none is known. */
function chanceOf(spread: number | null, measuredOn: number): number | null {
  if (spread === 0) return 0;
  return spread === null || measuredOn < 2 ? null : studentQuantile(0.975, measuredOn - 1) * spread;
}
