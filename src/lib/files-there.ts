import { readdirSync, type Stats, statSync } from 'node:fs';
import { hasCode } from './errors.ts';

/** Whether there is a folder, or a link to one. */
export function isFolder(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

/** Whether there is a regular file, or a link to one. */
export function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true;
}

/** The names in a folder; none if there is no such folder. */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Nothing is where the path can't name anything: it is too long, leads in circles, or holds a zero byte. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (['ENAMETOOLONG', 'ELOOP', 'ERR_INVALID_ARG_VALUE'].some((code) => hasCode(error, code)))
      return undefined;
    throw error;
  }
}
