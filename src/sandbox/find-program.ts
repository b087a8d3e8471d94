import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

const usual = ['/usr/bin', '/bin', '/usr/local/bin', '/usr/sbin', '/sbin'];

/** The path of a program, first in the system's own folders, then on the caller's PATH; null if there is none. */
export function findProgram(name: string): string | null {
  if (isAbsolute(name)) return isProgram(name) ? name : null;
  const folders = [...usual, ...(process.env.PATH ?? '').split(delimiter).filter(isAbsolute)];
  return folders.map((folder) => join(folder, name)).find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
