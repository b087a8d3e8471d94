import { accessSync, constants, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';
import { orphansIn, ownedName } from './owner.ts';

/** Where this process has looked for leftovers. */
const lookedAt = new Set<string>();

/** The kernel takes socket paths of up to 107 bytes; the names of sockets have up to 36. */
const maxBytes = 107 - '/'.length - 36;

/**
 * Makes a folder in the system's folder for temporary files that belongs to this process: its name identifies the
 * owner, and if that process was killed, the next one that makes such a folder removes it.
 * @param use a short word
 */
export function ownedFolder(use: string): string {
  return makeOwned(ownedName(`${use}-`), tmpdir());
}

/** Such a folder in /tmp, if paths of sockets in the usual place are too long, as with the TMPDIR of many clusters. */
export function ownedSocketFolder(use: string): string {
  const name = ownedName(`${use}-`);
  return makeOwned(name, placeForSockets(name));
}

function makeOwned(name: string, parent: string): string {
  if (!lookedAt.has(parent)) {
    lookedAt.add(parent);
    for (const orphan of orphansIn(parent)) removeQuietly(join(parent, orphan));
  }
  return mkdtempSync(join(parent, name));
}

function placeForSockets(name: string): string {
  const parent = tmpdir();
  if (Buffer.byteLength(join(parent, `${name}XXXXXX`)) <= maxBytes) return parent;
  try {
    accessSync('/tmp', constants.W_OK);
    return '/tmp';
  } catch {
    return parent;
  }
}

/** Another user's folder can't be removed. */
function removeQuietly(path: string): void {
  try {
    removeTree(path);
  } catch {
    // Its owner's next start removes it.
  }
}
