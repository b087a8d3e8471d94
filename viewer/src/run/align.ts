import type { Timeline } from '../../../src/schema/index.ts';

export type Alignment = 'step' | 'time';

/** Steps of two runs that are shown side by side; null if one has none there. */
export interface AlignedSteps {
  a: number | null;
  b: number | null;
}

/**
 * Every step of both runs once, in order. By time: steps that ended at about the same time of the budget are paired.
 */
export function alignSteps(a: Timeline, b: Timeline, by: Alignment): AlignedSteps[] {
  return by === 'step' ? byStep(a, b) : byTime(a, b);
}

function byStep(a: Timeline, b: Timeline): AlignedSteps[] {
  const length = Math.max(a.action.length, b.action.length);
  return Array.from({ length }, (_, index) => ({ a: stepAt(a, index), b: stepAt(b, index) }));
}

function byTime(a: Timeline, b: Timeline): AlignedSteps[] {
  const rows: AlignedSteps[] = [];
  const near = nearness(a, b);
  let one = 0;
  let other = 0;
  while (one < a.action.length || other < b.action.length) {
    const timeA = timeAt(a, one);
    const timeB = timeAt(b, other);
    const together = Math.abs(timeA - timeB) <= near;
    const takesA = together || timeA < timeB;
    const takesB = together || timeB < timeA;
    rows.push({ a: takesA ? stepAt(a, one) : null, b: takesB ? stepAt(b, other) : null });
    if (takesA) one++;
    if (takesB) other++;
  }
  return rows;
}

/** Half the mean length of a step of the run with the longer ones. */
function nearness(a: Timeline, b: Timeline): number {
  const mean = (timeline: Timeline) =>
    (timeline.seconds_used.at(-1) ?? 0) / Math.max(1, timeline.action.length);
  return Math.max(mean(a), mean(b)) / 2;
}

function timeAt(timeline: Timeline, index: number): number {
  return index < timeline.action.length ? (timeline.seconds_used[index] ?? 0) : Number.POSITIVE_INFINITY;
}

function stepAt(timeline: Timeline, index: number): number | null {
  return index < timeline.action.length ? timeline.from + index : null;
}
