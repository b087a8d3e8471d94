import type { Report, TaskFile, TaskId } from '../../schema/index.ts';
import { mean } from '../summary.ts';
import { meanOrNull } from './run-group.ts';

/** The published columns of others for these tasks, by agent in the order of the tasks' files, as fractions. */
export function publishedColumns(
  tasks: readonly TaskId[],
  published: Readonly<Record<string, TaskFile['paper']>>,
): Report['published'] {
  const lines = tasks.flatMap((task) =>
    (published[task] ?? []).map(({ agent, success_rate, improvement }) => ({
      agent,
      task,
      success_rate: success_rate / 100,
      improvement: improvement === undefined ? null : improvement / 100,
    })),
  );
  return [...Map.groupBy(lines, ({ agent }) => agent)].map(([agent, ofAgent]) => ({
    agent,
    tasks: ofAgent.map(({ task, success_rate, improvement }) => ({ task, success_rate, improvement })),
    mean: {
      success_rate: mean(ofAgent.map(({ success_rate }) => success_rate)),
      improvement: meanOrNull(ofAgent.flatMap(({ improvement }) => improvement ?? [])),
    },
  }));
}
