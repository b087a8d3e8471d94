import type { Timeline } from '../../../src/schema/index.ts';

/**
 * The timeline with new steps: those from `news.from` on replace the old ones. Null: something in between was missed,
 * perhaps only the end of the last step.
 */
export function withNewSteps(old: Timeline, news: Timeline): Timeline | null {
  const kept = news.from - old.from;
  if (kept < 0 || kept > old.action.length) return null;
  if (old.statuses[old.status[kept - 1] ?? -1] === 'running') return null;
  const actions = [...old.actions];
  const statuses = [...old.statuses];
  const place = <Name>(names: Name[], name: Name | undefined): number => {
    if (name === undefined) return 0;
    const found = names.indexOf(name);
    return found >= 0 ? found : names.push(name) - 1;
  };
  const joined = <Value>(before: readonly Value[], after: readonly Value[]) => [
    ...before.slice(0, kept),
    ...after,
  ];
  return {
    total: news.total,
    has_tail: news.has_tail,
    from: old.from,
    action: joined(
      old.action,
      news.action.map((index) => place(actions, news.actions[index])),
    ),
    status: joined(
      old.status,
      news.status.map((index) => place(statuses, news.statuses[index])),
    ),
    actions,
    statuses,
    started: joined(old.started, news.started),
    duration_ms: joined(old.duration_ms, news.duration_ms),
    seconds_used: joined(old.seconds_used, news.seconds_used),
    calls: joined(old.calls, news.calls),
    tokens: joined(old.tokens, news.tokens),
    changed: joined(old.changed, news.changed),
    grades: [...old.grades.filter(({ step }) => step < news.from), ...news.grades],
    warnings: [...old.warnings.filter(({ step }) => step < news.from), ...news.warnings],
    readings: [...old.readings.filter(({ step }) => step < news.from), ...news.readings],
    summaries: [...old.summaries.filter(({ step }) => step < news.from), ...news.summaries],
    replaced: [
      ...old.replaced.filter(({ step }) => step < news.from),
      ...news.replaced.map(({ step, action }) => ({ step, action: place(actions, news.actions[action]) })),
    ],
    // The event has no results of the evaluation.
    pending: old.pending,
  };
}
