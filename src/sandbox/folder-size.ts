import { type Dir, lstatSync, opendirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { hasCode } from '../lib/errors.ts';

/** What the file system keeps for a file of no content. */
const bytesPerEntry = 256;
const entriesPerTurn = 200;

/**
 * Bytes that a folder takes: of each entry the allocated blocks or the apparent size, whichever is more, and a
 * little for its inode. Links are not followed, hard links count once. Stops early once above `enough`.
 * What can't be walked (too deep, or closed by its maker) counts as infinite, so that nothing hides there.
 * Yields to the event loop every few hundred entries.
 */
export async function folderSize(folder: string, enough: number): Promise<number> {
  const linked = new Set<number>();
  const waiting = [folder];
  let size = 0;
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const directory = openFolder(next);
    if (directory === 'gone') continue;
    if (directory === 'closed') return Number.POSITIVE_INFINITY;
    try {
      for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
        const path = join(next, entry.name);
        const stat = statOf(path);
        if (stat === 'closed') return Number.POSITIVE_INFINITY;
        if (stat === 'gone' || isCounted(stat, linked)) continue;
        size += bytesPerEntry + Math.max(stat.blocks * 512, stat.isFile() ? stat.size : 0);
        if (stat.isDirectory()) waiting.push(path);
        if (size > enough) return size;
        if (++seen % entriesPerTurn === 0) await setImmediate();
      }
    } finally {
      directory.closeSync();
    }
  }
  return size;
}

function isCounted(stat: Stats, linked: Set<number>): boolean {
  if (stat.isDirectory() || stat.nlink < 2) return false;
  if (linked.has(stat.ino)) return true;
  linked.add(stat.ino);
  return false;
}

function openFolder(path: string): Dir | 'gone' | 'closed' {
  try {
    return opendirSync(path, { bufferSize: entriesPerTurn });
  } catch (error) {
    return absence(error);
  }
}

function statOf(path: string): Stats | 'gone' | 'closed' {
  try {
    return lstatSync(path);
  } catch (error) {
    return absence(error);
  }
}

function absence(error: unknown): 'gone' | 'closed' {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR') ? 'gone' : 'closed';
}
