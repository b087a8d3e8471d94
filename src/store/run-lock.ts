import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { type FileLock, fileLockHolder, type LockHolder, tryFileLock } from '../lib/file-lock.ts';

/** Name of the lock in a run's folder. */
export const lockName = 'lock';

/**
 * Lets one process at a time work on a run's folder.
 * @throws UserError `run_locked` when a living process holds it
 */
export function acquireLock(folder: string): FileLock {
  const taken = tryFileLock(join(folder, lockName));
  if ('lock' in taken) return taken.lock;
  const { pid, host } = taken.holder;
  throw new UserError(
    'run_locked',
    `process ${pid} on ${host} works on ${folder}`,
    'Wait until it has finished, or end it.',
  );
}

/** Who works on the folder now; null when nobody does. */
export function lockHolder(folder: string): LockHolder | null {
  return fileLockHolder(join(folder, lockName));
}
