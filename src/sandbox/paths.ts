import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';

/** Whether `path` is `folder` or below it; both absolute. */
export function isWithin(folder: string, path: string): boolean {
  const [outer, inner] = [normal(folder), normal(path)];
  return outer === inner || outer === '/' || (inner.startsWith(outer) && inner[outer.length] === '/');
}

/** Without links; null if there is nothing, or nothing that this user can reach. */
export function realPath(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Nearly all paths are normal already, and this is called some ten thousand times per sandbox. */
function normal(path: string): string {
  return /\/(\/|\.|$)/.test(path) ? resolve(path) : path;
}
