import { constants, copyFileSync, renameSync, rmSync } from 'node:fs';
import { hasCode } from '../lib/errors.ts';

/**
 * Replaces a file by a new one with the same content: processes that have the old one open then write to a file that
 * nobody reads any more. Does nothing if there is no file.
 */
export function moveToNewFile(path: string): void {
  const temporary = `${path}.moving`;
  try {
    copyFileSync(path, temporary, constants.COPYFILE_FICLONE);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}
