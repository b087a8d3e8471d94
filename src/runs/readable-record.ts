import type { RunRecord } from '../schema/index.ts';
import type { RunFolder } from '../store/index.ts';

/**
 * A run's record for those who execute many runs; null if there is none, or it can't be read: it may be damaged, from a
 * newer mlab, or be replaced on a network file system just now. What is done with the run itself says why.
 */
export function readableRecord(folder: RunFolder): RunRecord | null {
  try {
    return folder.readRecord();
  } catch {
    return null;
  }
}
