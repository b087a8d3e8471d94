import { isJsonObject } from '../lib/json-values.ts';
import type { Plan, RunSpec } from '../schema/index.ts';

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
  lines.unshift(...changedOnce(existing, wanted));
  return lines.length <= shown ? lines : [...lines.slice(0, shown), `and ${lines.length - shown} more`];
}

/** What changed for several runs at once: tasks, and files of agents that are commands. */
function changedOnce(existing: Plan, wanted: Plan): string[] {
  const changes = existing.runs.flatMap((run) => {
    const other = wanted.runs.find(({ id }) => id === run.id);
    if (other === undefined) return [];
    return [
      ...(other.task === run.task && other.task_version !== run.task_version
        ? [`the task ${run.task} has changed since`]
        : []),
      ...(haveOtherFiles(run, other) ? [`the files of the agent ${nameOf(run)} have changed since`] : []),
    ];
  });
  return [...new Set(changes)];
}

function nameOf({ agent, agent_options: { label, command } }: RunSpec): string {
  return [label, command].map((name) => String(name ?? '')).find((name) => name !== '') ?? agent;
}

/** Whether both have a hash of the agent's files as its version, and another one. */
function haveOtherFiles({ agent_version: one }: RunSpec, { agent_version: other }: RunSpec): boolean {
  const areHashes = one?.startsWith('sha256:') === true && other?.startsWith('sha256:') === true;
  return areHashes && one !== other;
}

function compareRuns(existing: RunSpec, wanted: RunSpec): string[] {
  const omitted = [
    ...(existing.task === wanted.task ? ['task_version'] : []),
    ...(haveOtherFiles(existing, wanted) ? ['agent_version'] : []),
  ];
  return compareValues(`run ${existing.id}: `, omit(existing, omitted), omit(wanted, omitted));
}

function omit(value: object, keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

function compareValues(where: string, existing: unknown, wanted: unknown): string[] {
  if (isJsonObject(existing) && isJsonObject(wanted)) {
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
