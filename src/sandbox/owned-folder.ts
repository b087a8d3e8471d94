import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { orphansIn, ownedName } from './owner.ts';

/** Where this process has looked for leftovers. */
const lookedAt = new Set<string>();

/**
 * Makes a folder in the system's folder for temporary files that belongs to this process: its name identifies the
 * owner, and if that process was killed, the next one that makes such a folder removes it.
 * @param use a short word; the path stays short enough for sockets
 */
export function ownedFolder(use: string): string {
  const parent = tmpdir();
  if (!lookedAt.has(parent)) {
    lookedAt.add(parent);
    for (const orphan of orphansIn(parent)) removeQuietly(join(parent, orphan));
  }
  return mkdtempSync(join(parent, ownedName(`${use}-`)));
}

/** Another user's folder can't be removed. */
function removeQuietly(path: string): void {
  try {
    removeTree(path);
  } catch {
    // Its owner's next start removes it.
  }
}
