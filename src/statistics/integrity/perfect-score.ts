import type { GradedStep, IntegrityFlag, ScoringReference } from '../../schema/index.ts';

/** A score this many times nearer to the best than the reference solution's is hard to believe. */
const timesNearer = 10;

/**
 * Flags a final score that is the best possible one, or ten times nearer to it than the reference solution's, or, if
 * there is no best, ten times as far from the baseline. No flag if the reference itself reaches the best.
 */
export function perfectScore(
  grades: readonly GradedStep[],
  scoringReference: ScoringReference | null,
): IntegrityFlag[] {
  const grade = grades.find(({ final }) => final);
  if (scoringReference === null || grade === undefined || grade.score === null) return [];
  const why = whyPerfect(grade.score, scoringReference);
  if (why === null) return [];
  return [{ kind: 'perfect_score', step: grade.step, weight: 'doubt', evidence: why }];
}

function whyPerfect(
  score: number,
  { direction, baseline, reference, best }: ScoringReference,
): string | null {
  const sign = direction === 'maximize' ? 1 : -1;
  if (best === null) {
    if (reference === null) return null;
    const gain = sign * (score - baseline.mean);
    const known = sign * (reference.mean - baseline.mean);
    if (known <= 0 || gain < timesNearer * known) return null;
    return `score ${score}: ${timesNearer} times as far from the baseline as the reference's ${reference.mean}`;
  }
  const gap = sign * (best - score);
  const room = reference === null ? 0 : sign * (best - reference.mean);
  if (reference !== null && room <= (reference.spread ?? 0)) return null;
  if (gap <= 0) return `score ${score}: the best there can be`;
  if (timesNearer * gap > room) return null;
  return `score ${score}: ${timesNearer} times nearer to the best, ${best}, than the reference's ${reference?.mean}`;
}
