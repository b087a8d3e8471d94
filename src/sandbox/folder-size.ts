import type { Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { hasCode } from '../lib/errors.ts';
import type { FolderHandle } from '../lib/folder-handle.ts';
import { type FolderPlace, OpenFolders } from '../lib/open-folders.ts';

/** What the file system stores for a file besides its content. */
const bytesPerEntry = 256;
/** The minimum for any name, even another name of a counted file: each makes walking the folder slower. */
const bytesPerName = 2048;
const entriesPerTurn = 200;

/**
 * Bytes of a folder: for each entry the allocated blocks or the apparent size, whichever is larger, and a little for
 * its inode and its name. Links are not followed, and the content of hard links counts once. Stops early once above
 * `enough`. Folders that their owner closed can't be walked and count as infinite, so that nothing can hide there.
 * Yields to the event loop every few hundred entries.
 */
export async function folderSize(folder: string, enough: number): Promise<number> {
  const root = rootOf(folder);
  if (root === 'gone') return 0;
  if (root === 'closed') return Number.POSITIVE_INFINITY;
  using folders = root;
  const linked = new Set<number>();
  const waiting: FolderPlace[] = [{ parent: null, name: '' }];
  let size = 0;
  let seen = 0;
  for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
    const inner: string[] = [];
    try {
      const handle = folders.at(place);
      for (const name of handle.eachName()) {
        const stat = statOf(handle, name);
        if (stat === 'closed') return Number.POSITIVE_INFINITY;
        if (++seen % entriesPerTurn === 0) await setImmediate();
        if (stat === 'gone') continue;
        size += isCounted(stat, linked) ? bytesPerName : Math.max(bytesPerName, bytesOf(stat));
        if (stat.isDirectory()) inner.push(name);
        if (size > enough) return size;
      }
    } catch (error) {
      if (absence(error) === 'closed') return Number.POSITIVE_INFINITY;
    }
    for (const name of inner) waiting.push({ parent: place, name });
  }
  return size;
}

function bytesOf(stat: Stats): number {
  return bytesPerEntry + Math.max(stat.blocks * 512, stat.isFile() ? stat.size : 0);
}

function isCounted(stat: Stats, linked: Set<number>): boolean {
  if (stat.isDirectory() || stat.nlink < 2) return false;
  if (linked.has(stat.ino)) return true;
  linked.add(stat.ino);
  return false;
}

function rootOf(folder: string): OpenFolders | 'gone' | 'closed' {
  try {
    return new OpenFolders(folder);
  } catch (error) {
    return absence(error);
  }
}

function statOf(handle: FolderHandle, name: string): Stats | 'gone' | 'closed' {
  try {
    return handle.stat(name) ?? 'gone';
  } catch (error) {
    return absence(error);
  }
}

/** The folder may have been replaced by a link after it was listed. */
function absence(error: unknown): 'gone' | 'closed' {
  return ['ENOENT', 'ENOTDIR', 'ELOOP'].some((code) => hasCode(error, code)) ? 'gone' : 'closed';
}
