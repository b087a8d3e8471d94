import type { StepStatus, Timeline } from '../../src/schema/index.ts';

/** A timeline with these steps, for tests: each takes a second. */
export function timeline(
  actions: readonly string[],
  statuses: readonly StepStatus[],
  more: Partial<Timeline> = {},
): Timeline {
  const names = [...new Set(actions)];
  const endings = [...new Set(statuses)];
  return {
    total: actions.length,
    has_tail: false,
    from: 1,
    actions: names,
    statuses: endings,
    action: actions.map((action) => names.indexOf(action)),
    status: statuses.map((status) => endings.indexOf(status)),
    started: actions.map((_, index) => index * 1000),
    duration_ms: actions.map(() => 1000),
    seconds_used: actions.map((_, index) => index + 1),
    calls: actions.map(() => 0),
    tokens: actions.map(() => 0),
    changed: actions.map(() => 0),
    grades: [],
    warnings: [],
    readings: [],
    summaries: [],
    replaced: [],
    pending: false,
    ...more,
  };
}
