import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { UserError } from '../../lib/errors.ts';
import { makeWholeFolder, wholeNamesIn } from '../../lib/whole-folder.ts';

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

function refuseOccupied(out: string): void {
  const state = statSync(out, { throwIfNoEntry: false });
  if (state === undefined || (state.isDirectory() && wholeNamesIn(out).length === 0)) return;
  throw new UserError(
    'not_empty',
    `${out} already exists and is not empty.`,
    'Give a new or an empty folder.',
  );
}
