import type { Strip } from '../../../src/schema/index.ts';
import { showScore } from '../format/numbers.ts';

/** What is drawn over the steps of a run: the hidden score, or where only its end was graded what the agent saw itself. */
export interface StripCurve {
  kind: 'hidden' | 'validation';
  points: readonly CurvePoint[];
  /** Of the hidden score, turned like the points. */
  baseline: number | null;
}

export interface CurvePoint {
  step: number;
  /** Higher is better. */
  value: number;
  /** As it is, in words. */
  words: string;
  final: boolean;
}

export function stripCurve(strip: Strip, direction: 'maximize' | 'minimize'): StripCurve | null {
  const sign = direction === 'maximize' ? 1 : -1;
  const graded = strip.grades.flatMap(({ step, score, final }): CurvePoint[] =>
    score === null ? [] : [{ step, value: sign * score, words: showScore(score), final }],
  );
  const steps = new Set(graded.map(({ step }) => step));
  if (steps.size < 2 && strip.readings.length > 1) {
    const points = strip.readings.map(({ step, printed, value }) => ({
      ...{ step, value, final: false },
      words: `${showScore(printed)} in its own validation`,
    }));
    return { kind: 'validation', points, baseline: null };
  }
  if (graded.length === 0) return null;
  const baseline = strip.grades[0]?.baseline;
  return { kind: 'hidden', points: graded, baseline: baseline === undefined ? null : sign * baseline };
}

/** The least and the greatest value of curves, so that they can be drawn on one scale. */
export function curveRange(curves: readonly (StripCurve | null)[]): { low: number; high: number } {
  const values = curves.flatMap((curve) =>
    curve === null ? [] : [...curve.points.map(({ value }) => value), curve.baseline ?? []].flat(),
  );
  return { low: Math.min(...values), high: Math.max(...values) };
}
