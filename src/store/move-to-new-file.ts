import { constants, copyFileSync, renameSync, rmSync } from 'node:fs';
import { hasCode } from '../lib/errors.ts';

/**
 * Gives a file a new identity with the same content: who has the old one open writes to what nobody reads any more. Does
 * nothing where there is none.
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
