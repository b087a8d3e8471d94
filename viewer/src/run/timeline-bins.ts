import type { StepStatus, Timeline } from '../../../src/schema/index.ts';
import { type ActionKind, actionKind, actionKinds } from './action-kind.ts';

/** Neighbouring steps that share a bar of the timeline. */
export interface TimelineBin {
  first: number;
  last: number;
  /** The purpose of most of them. */
  kind: ActionKind;
  /** Whether one of them did not succeed. */
  bad: boolean;
  running: boolean;
  /** Of the longest, in milliseconds. */
  duration: number;
  warnings: number;
}

/** Whether a step succeeded, or has not ended. */
export function isWell(status: StepStatus | undefined): boolean {
  return status === 'ok' || status === 'running' || status === undefined;
}

/** At most `most` bars for all steps of a timeline, each of the same number of steps (the last may have fewer). */
export function timelineBins(timeline: Timeline, most: number): TimelineBin[] {
  const count = timeline.action.length;
  const size = Math.max(1, Math.ceil(count / most));
  const kinds = timeline.actions.map(actionKind);
  const warnings = Map.groupBy(timeline.warnings, ({ step }) => Math.floor((step - timeline.from) / size));
  return Array.from({ length: Math.ceil(count / size) }, (_, bin) => {
    const places = Array.from(
      { length: Math.min(size, count - bin * size) },
      (_, index) => bin * size + index,
    );
    const statuses = places.map((place) => timeline.statuses[timeline.status[place] ?? 0]);
    return {
      first: timeline.from + bin * size,
      last: timeline.from + bin * size + places.length - 1,
      kind: mostFrequent(places.map((place) => kinds[timeline.action[place] ?? 0] ?? 'other')),
      bad: statuses.some((status) => !isWell(status)),
      running: statuses.includes('running'),
      duration: Math.max(0, ...places.map((place) => timeline.duration_ms[place] ?? 0)),
      warnings: warnings.get(bin)?.length ?? 0,
    };
  });
}

function mostFrequent(kinds: readonly ActionKind[]): ActionKind {
  const count = (kind: ActionKind) => kinds.filter((other) => other === kind).length;
  return actionKinds.reduce((best, kind) => (count(kind) > count(best) ? kind : best), 'other');
}

/** The height of a bar, from 0 to 1: both a step of an hour and one of a second must be visible. */
export function barHeight(duration: number, longest: number): number {
  const shortest = 0.12;
  if (longest <= 0) return shortest;
  return shortest + (1 - shortest) * (Math.log1p(duration / 50) / Math.log1p(longest / 50));
}
