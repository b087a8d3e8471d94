import type { GradedStep, ProcessMetrics, ScoringReference } from '../../schema/index.ts';
import { improvement } from '../competence.ts';
import { everyStepGraded } from '../graded-steps.ts';
import { kendallTauB } from '../numeric/kendall.ts';
import type { ObservedNumbers } from './measurements.ts';
import type { RunTranscript } from './run-transcript.ts';
import { ran } from './steps.ts';
import { validationReadings } from './validation-metric.ts';

/** How the hidden score developed over a run whose steps were graded; null if only its end was graded. */
export function progress(
  transcript: RunTranscript,
  scoringReference: ScoringReference | null,
  observed: ObservedNumbers,
): ProcessMetrics['progress'] {
  const grades = transcript.grades.toSorted((left, right) => left.step - right.step);
  const isKnown = grades.length > 1 && everyStepGraded(grades, transcript.steps.length);
  if (scoringReference === null || !isKnown) {
    return { first_valid: null, area_under_curve: null, regret: null, validation_rank_correlation: null };
  }
  const gains = grades.map((grade) => ({ step: grade.step, gain: gainOf(grade, scoringReference) }));
  return {
    first_valid: firstValid(grades),
    area_under_curve: meanHeld(gains, transcript.steps.at(-1)?.step ?? 0),
    regret: regretOf(gains.map(({ gain }) => gain)),
    validation_rank_correlation: validationCorrelation(transcript, grades, scoringReference, observed),
  };
}

interface Gain {
  step: number;
  /** Improvement over the baseline; null if the submission was not valid, or the ratio is meaningless. */
  gain: number | null;
}

function gainOf({ valid, score, baseline }: GradedStep, { direction }: ScoringReference): number | null {
  return valid && score !== null ? improvement(score, baseline, direction) : null;
}

function firstValid(grades: readonly GradedStep[]): ProcessMetrics['progress']['first_valid'] {
  const first = grades.find(({ valid }) => valid);
  return first === undefined ? null : { step: first.step, seconds: first.seconds, tokens: first.tokens };
}

/** Mean over steps 1 to `last` of the improvement of the newest graded step; without a valid submission it is 0. */
function meanHeld(gains: readonly Gain[], last: number): number | null {
  if (last === 0) return null;
  let sum = 0;
  let [from, height] = [1, 0];
  for (const { step, gain } of gains) {
    const until = Math.min(Math.max(step, from), last + 1);
    sum += height * (until - from);
    [from, height] = [until, gain ?? 0];
  }
  return (sum + height * (last + 1 - from)) / last;
}

/** By how much the best valid step exceeds the final one; an invalid end counts as no improvement. */
function regretOf(gains: readonly (number | null)[]): number | null {
  const valid = gains.filter((gain) => gain !== null);
  return valid.length === 0 ? null : Math.max(0, Math.max(...valid) - (gains.at(-1) ?? 0));
}

/** Fewer pairs don't give a ranking. */
const fewestPairs = 3;

/**
 * Kendall's tau-b over the executions that printed the agent's metric: its value, and the hidden score as it was graded
 * after the execution and before the next one, unless that submission was older.
 */
function validationCorrelation(
  transcript: RunTranscript,
  grades: readonly GradedStep[],
  scoringReference: ScoringReference,
  observed: ObservedNumbers,
): number | null {
  const readings = validationReadings(transcript, observed, scoringReference);
  const executed = transcript.steps.filter(ran).map(({ step }) => step);
  const pairs = readings.flatMap(({ step, value }): [number, number][] => {
    const next = executed.find((other) => other > step) ?? Number.POSITIVE_INFINITY;
    const grade = grades.find((candidate) => candidate.step >= step && candidate.step < next);
    if (grade === undefined || grade.stale || !grade.valid || grade.score === null) return [];
    return [[value, scoringReference.direction === 'maximize' ? grade.score : -grade.score]];
  });
  return pairs.length < fewestPairs ? null : kendallTauB(pairs);
}
