import { resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { makeWholeFolder, refuseOccupied } from '../../lib/whole-folder.ts';

export interface NewFolder {
  /** A new or an empty folder. */
  out: string;
  onProgress: (message: string) => void;
  signal: AbortSignal;
}

/**
 * Writes a folder, atomically, and returns its absolute path.
 * @throws UserError `not_empty`, `part_left`, and any error of `write`
 */
export async function writeIntoNewFolder(
  { out, signal }: NewFolder,
  write: (part: string) => Promise<void>,
): Promise<string> {
  const folder = resolve(out);
  refuseOccupied(folder);
  try {
    await makeWholeFolder(folder, signal, write);
  } catch (error) {
    // Streams report that they were aborted; the signal has the reason.
    if (!UserError.isInstance(error)) signal.throwIfAborted();
    throw error;
  }
  return folder;
}
