import type { Plan } from '../schema/index.ts';

const shown = 8;
/** Fields that don't affect what is measured. */
const free = ['v', 'created', 'mlab', 'parallel', 'resources', 'runs', 'providers', 'prices', 'spend'];

/**
 * The differences between two plans, one line each; none if they plan the same runs. The order of runs does not count.
 */
export function describePlanDifferences(existing: Plan, wanted: Plan): string[] {
  const lines = compareValues('', omit(existing, free), omit(wanted, free));
  const rest = new Map(wanted.runs.map((run) => [run.id, run]));
  for (const run of existing.runs) {
    const other = rest.get(run.id);
    rest.delete(run.id);
    if (other) lines.push(...compareRuns(run, other));
    else lines.push(`run ${run.id}: in the existing plan only`);
  }
  for (const id of rest.keys()) lines.push(`run ${id}: in the new plan only`);
  const changed = new Set(
    existing.runs.flatMap(({ id, task, task_version: version }) => {
      const other = wanted.runs.find((run) => run.id === id);
      return other !== undefined && other.task === task && other.task_version !== version ? [task] : [];
    }),
  );
  lines.unshift(...[...changed].map((task) => `the task ${task} has changed since`));
  return lines.length <= shown ? lines : [...lines.slice(0, shown), `and ${lines.length - shown} more`];
}

/** That a task has changed is said once for all of its runs. */
function compareRuns(existing: Plan['runs'][number], wanted: Plan['runs'][number]): string[] {
  const omitted = existing.task === wanted.task ? ['task_version'] : [];
  return compareValues(`run ${existing.id}: `, omit(existing, omitted), omit(wanted, omitted));
}

function omit(value: object, keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function compareValues(where: string, existing: unknown, wanted: unknown): string[] {
  if (isRecord(existing) && isRecord(wanted)) {
    const keys = new Set([...Object.keys(existing), ...Object.keys(wanted)]);
    const separator = where === '' || where.endsWith(' ') ? '' : '.';
    return [...keys].flatMap((key) =>
      compareValues(`${where}${separator}${key}`, existing[key], wanted[key]),
    );
  }
  const [before, after] = [JSON.stringify(existing), JSON.stringify(wanted)];
  if (before === after) return [];
  if (where.endsWith('agent_source.sha256'))
    return [`${where}: the source of the agent has changed (${shortHash(existing)} → ${shortHash(wanted)})`];
  return [`${where}: ${before ?? 'not set'} → ${after ?? 'not set'}`];
}

function shortHash(hash: unknown): string {
  return typeof hash === 'string' ? hash.slice(0, 8) : 'none';
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
