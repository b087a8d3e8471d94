import type { RunRecord, RunStatus } from '../schema/index.ts';
import type { RunFolder } from './run-folder.ts';

/** The status in the record, unless the run's process ended without recording it. */
export function statusOf(folder: RunFolder, record: RunRecord | null): RunStatus {
  if (record === null) return 'pending';
  if (record.status === 'running' && folder.holder() === null) return 'interrupted';
  return record.status;
}

/** What a run waits for, in words; empty if it does not wait. */
export function decisionWait({ status, waits_for: awaited = [] }: RunRecord): string {
  if (status !== 'waiting') return '';
  const actions = awaited.map(
    ({ branch, step, action }) => `step ${step}${branch === 'main' ? '' : ` of ${branch}`} (${action})`,
  );
  return `waits for a decision on ${actions.join(', ')}`;
}
