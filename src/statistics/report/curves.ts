import type { CurveAxis, ScoreCurve } from '../../schema/index.ts';
import { type CurvePoint, heightsAt, meanHeight } from '../numeric/step-curve.ts';
import { mean, quantileOfSorted } from '../summary.ts';
import type { PairData } from './pairs.ts';
import type { RunFacts } from './run-facts.ts';

const axes: readonly CurveAxis[] = ['steps', 'seconds', 'tokens', 'money'];

/** Maximum positions of a curve besides 0; for steps, every step as long as there are no more. */
const positions = 50;

/** Curves of all agents for one task, at the same positions. */
export function curvesOf(pairs: readonly PairData[]): ScoreCurve[] {
  return axes.flatMap((axis) => {
    const curves = pairs.map((pair) => ({ pair, runs: pointsOf(pair.inRate, axis) }));
    const ends = curves.flatMap(({ runs }) => runs.map((points) => points.at(-1)?.at ?? 0));
    const end = ends.reduce((largest, one) => Math.max(largest, one), 0);
    const at = gridTo(end, axis);
    return curves
      .filter(({ runs }) => runs.length > 0)
      .map(({ pair: { task, agent }, runs }) => {
        const heights = runs.map((points) => heightsAt(points, at, 0));
        const sorted = at.map((_, index) =>
          Float64Array.from(heights, (height) => height[index] ?? 0).sort(),
        );
        const quartile = (share: number) => sorted.map((values) => quantileOfSorted(values, share));
        return {
          ...{ task, agent, axis, runs: runs.length, at },
          area: mean(runs.map((points) => areaOf(points, end, axis))),
          ...{ low: quartile(0.25), median: quartile(0.5), high: quartile(0.75) },
        };
      });
  });
}

/**
 * For each run, the improvement of its newest graded step; 0 without a valid submission. Runs without a step appear
 * beside those whose steps were graded.
 */
function pointsOf(runs: readonly RunFacts[], axis: CurveAxis): CurvePoint[][] {
  if (!runs.some(({ stepsGraded }) => stepsGraded)) return [];
  return runs.flatMap(({ evaluation: { grades }, gains, stepsGraded, hasNoSteps }) => {
    if (!stepsGraded && !hasNoSteps) return [];
    const points = grades.flatMap((grade, index) => {
      const at = axis === 'steps' ? grade.step : grade[axis];
      const value = grade.score === null ? 0 : (gains[index] ?? null);
      return at === null || value === null ? [] : [{ at, value }];
    });
    return points.length < grades.length ? [] : [points];
  });
}

/** What a step reached counts from that step on, the last one included, as in `area_under_curve`. */
function areaOf(points: readonly CurvePoint[], end: number, axis: CurveAxis): number {
  const shown = axis === 'steps' ? points.map(({ at, value }) => ({ at: at - 1, value })) : points;
  return meanHeight(shown, end, 0);
}

function gridTo(end: number, axis: CurveAxis): number[] {
  const parts = axis === 'steps' ? Math.min(end, positions) : end > 0 ? positions : 0;
  return Array.from({ length: parts + 1 }, (_, index) => (parts === 0 ? 0 : (end * index) / parts));
}
