import type { RunRecord, TraceEvent } from '../schema/index.ts';

const workspaceHolders = { kernel: 'a file system of its size', watchdog: 'watchdog' } as const;

/**
 * How the limits of a run were enforced, and as which user its agent's code ran, in a line for people. Null if that was
 * not recorded.
 * @param first event of the run's trace
 */
export function limitsHeldText(record: Pick<RunRecord, 'host'>, first: TraceEvent | null): string | null {
  const { memory_held_by: memory, processes_held_by: processes, agent_user: user } = record.host;
  if (memory === undefined || processes === undefined || user === undefined) return null;
  const holder = first?.kind === 'session_started' ? first.workspace_held_by : undefined;
  const workspace = holder === undefined ? '' : `, workspace by ${workspaceHolders[holder]}`;
  return `limits held: memory by ${memory}, processes by ${processes}${workspace}; agent code ran as ${user}`;
}
