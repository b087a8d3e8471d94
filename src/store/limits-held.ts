import type { RunRecord, TraceEvent } from '../schema/index.ts';

const workspaceHolders = { kernel: 'a fixed-size file system', watchdog: 'a watchdog' } as const;

/**
 * How the limits of a run were enforced, and as which user its agent's code ran, in a line for people. Null if that was
 * not recorded.
 * @param first event of the run's trace
 */
export function limitsHeldText(record: Pick<RunRecord, 'host'>, first: TraceEvent | null): string | null {
  const { memory_held_by: memory, processes_held_by: processes, agent_user: user } = record.host;
  if (memory === undefined || processes === undefined || user === undefined) return null;
  const limits = [
    ...(memory === processes
      ? [`${memory} (memory, processes)`]
      : [`${memory} (memory)`, `${processes} (processes)`]),
    ...(first?.kind === 'session_started' && first.workspace_held_by !== undefined
      ? [`${workspaceHolders[first.workspace_held_by]} (workspace)`]
      : []),
  ];
  const account = user === 'user without account' ? 'an unassigned user ID' : user;
  return `limits enforced by: ${limits.join(', ')}; agent code ran under ${account}`;
}
