import type { Timeline } from '../../../src/schema/index.ts';
import { showScore } from '../format/numbers.ts';

/** The curve over the steps of a run: the hidden score, or the agent's own metric if only the end was graded. */
export interface TimelineCurve {
  kind: 'hidden' | 'validation';
  points: readonly TimelinePoint[];
  /** The hidden score's baseline, with the same sign as the points. */
  baseline: number | null;
}

export interface TimelinePoint {
  step: number;
  /** Higher is better. */
  value: number;
  /** The unchanged value, in words. */
  words: string;
  final: boolean;
}

/**
 * The curve that can be drawn for a run: its hidden score if steps were graded, else its own validation; null for
 * neither.
 */
function kindOf({ grades, readings }: Timeline): TimelineCurve['kind'] | null {
  const steps = new Set(grades.flatMap(({ step, score }) => (score === null ? [] : [step])));
  if (steps.size < 2 && readings.length > 1) return 'validation';
  return steps.size > 0 ? 'hidden' : null;
}

/** @param beside the run to compare with: both are drawn with the same measure if both have it */
export function timelineCurve(
  timeline: Timeline,
  direction: 'maximize' | 'minimize',
  beside?: Timeline,
): TimelineCurve | null {
  const kinds = [timeline, ...(beside === undefined ? [] : [beside])].map(kindOf);
  const isOwn = kinds.includes('validation') && timeline.readings.length > 0;
  return isOwn ? ownCurve(timeline) : hiddenCurve(timeline, direction);
}

function ownCurve({ readings }: Timeline): TimelineCurve {
  const points = readings.map(({ step, metric, printed, value }) => ({
    ...{ step, value, final: false },
    words: `${metric} ${showScore(printed)}, as the script printed it`,
  }));
  return { kind: 'validation', points, baseline: null };
}

function hiddenCurve({ grades }: Timeline, direction: 'maximize' | 'minimize'): TimelineCurve | null {
  const sign = direction === 'maximize' ? 1 : -1;
  const points = grades.flatMap(({ step, score, final }): TimelinePoint[] =>
    score === null ? [] : [{ step, value: sign * score, words: showScore(score), final }],
  );
  if (points.length === 0) return null;
  const baseline = grades[0]?.baseline;
  return { kind: 'hidden', points, baseline: baseline === undefined ? null : sign * baseline };
}

/** The least and the greatest value of the curves, so that they can be drawn on one scale. */
export function curveRange(curves: readonly (TimelineCurve | null)[]): { low: number; high: number } {
  const values = curves.flatMap((curve) =>
    curve === null ? [] : [...curve.points.map(({ value }) => value), curve.baseline ?? []].flat(),
  );
  return { low: Math.min(...values), high: Math.max(...values) };
}
