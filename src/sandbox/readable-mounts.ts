import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SandboxError, type SandboxSpec } from './sandbox.ts';

const maxLookedAt = 400;

/** Folders that this process found readable: if one is closed later, a command that reads it fails. */
const open = new Set<string>();

/**
 * Everything mounted must be readable by all if agent code runs as another user. Checks the outermost entries: a user
 * with a restrictive umask closes all files.
 * @throws SandboxError that names a closed entry
 */
export function checkReadable({ mounts, python }: SandboxSpec): void {
  const folders = mounts.filter(({ access }) => access === 'read').map(({ source }) => source);
  if (python !== null) folders.push(python.basePrefix, python.environment);
  for (const folder of folders) {
    if (open.has(folder)) continue;
    const closed = closedPath(folder);
    if (closed === null) {
      open.add(folder);
      continue;
    }
    throw new SandboxError(
      `agent code, which root runs as another user, can't read ${closed}`,
      `chmod -R a+rX '${folder}' (close a folder above it, where nobody else may read it: chmod 700)`,
    );
  }
}

function closedPath(root: string): string | null {
  const waiting = [root];
  for (let looked = 0; looked < maxLookedAt; looked++) {
    const path = waiting.shift();
    if (path === undefined) return null;
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (stat === undefined) continue;
    if (stat.isFile() && (stat.mode & 0o004) === 0) return path;
    if (!stat.isDirectory()) continue;
    if ((stat.mode & 0o005) !== 0o005) return path;
    if (waiting.length < maxLookedAt) waiting.push(...readdirSync(path).map((name) => join(path, name)));
  }
  return null;
}
