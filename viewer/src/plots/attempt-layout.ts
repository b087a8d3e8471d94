import { type ScaleLinear, scaleLinear } from 'd3-scale';
import type { ReportAttempt } from '../../../src/schema/index.ts';

export const attemptFrame = { width: 620, height: 300, left: 60, right: 16, top: 16, bottom: 40 };
const axis = attemptFrame.height - attemptFrame.bottom;
/** Above the lower axis: where attempts without a score are, and where others begin. */
const [withoutScore, lowest] = [axis - 10, axis - 26];

/** The difference of larger numbers may not be a number. */
const mostDrawn = 1e100;

interface Places {
  x: ScaleLinear<number, number>;
  y: ScaleLinear<number, number>;
  of: (attempt: ReportAttempt) => { x: number; y: number };
}

/** Scores far from those of the versions that were kept are drawn at the edge. */
export function placesOf(attempts: readonly ReportAttempt[]): Places {
  const kept = attempts.filter(({ status }) => status === 'kept');
  const known = (kept.length === 0 ? attempts : kept).flatMap(({ score }) => score ?? []);
  const scores = known.filter((score) => Math.abs(score) < mostDrawn);
  const [least, most] = [Math.min(...scores, Number.MAX_VALUE), Math.max(...scores, -Number.MAX_VALUE)];
  const isKnown = scores.length > 0;
  const margin = isKnown ? (most - least || Math.abs(most) || 1) / 4 : 0;
  const y = scaleLinear()
    .domain(isKnown ? [least - margin, most + margin] : [0, 1])
    .range([lowest, attemptFrame.top])
    .clamp(true);
  const last = Math.max(1, ...attempts.map(({ id }) => id));
  const x = scaleLinear()
    .domain([0, last])
    .range([attemptFrame.left + 10, attemptFrame.width - attemptFrame.right - 10]);
  return {
    ...{ x, y },
    of: ({ id, score }) => ({ x: x(id), y: score === null ? withoutScore : y(score) }),
  };
}

/** The chosen attempt and those that it was made from. An agent may record anything, also a circle. */
export function pathToFinal(attempts: readonly ReportAttempt[]): ReadonlySet<number> {
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const path = new Set<number>();
  let at = attempts.find(({ is_final: isFinal }) => isFinal);
  while (at !== undefined && !path.has(at.id)) {
    path.add(at.id);
    at = at.parent === null ? undefined : byId.get(at.parent);
  }
  return path;
}
