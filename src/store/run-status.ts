import type { RunRecord, RunStatus } from '../schema/index.ts';
import type { RunFolder } from './run-folder.ts';

/** What the record says, but for a run whose process is gone without having said so. */
export function statusOf(folder: RunFolder, record: RunRecord | null): RunStatus {
  if (record === null) return 'pending';
  if (record.status === 'running' && folder.holder() === null) return 'interrupted';
  return record.status;
}
