import { closeSync, type Dirent, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { sha256 } from '../lib/hash.ts';
import { isWithin, realPath } from './paths.ts';
import type { FileDigest, Mount } from './sandbox.ts';

/** By the folder and the contents: folders with read-only mounts do not change while this process runs. */
const known = new Map<string, Promise<string[]>>();

/**
 * The files of the host, in all folders that are mounted to be read, that have one of these contents, plain or
 * compressed with gzip. Each folder is walked once in the life of this process.
 * @param closed folders of the host that are not visible
 */
export async function filesWith(
  contents: readonly FileDigest[],
  mounts: readonly Mount[],
  closed: readonly string[],
): Promise<string[]> {
  if (contents.length === 0) return [];
  const sources = mounts.filter(({ access }) => access === 'read').map(({ source }) => realPath(source));
  const found: string[] = [];
  for (const source of new Set(sources)) {
    if (source !== null) found.push(...(await filesBelow(source, contents, closed)));
  }
  return [...new Set(found)];
}

/** How long this runs, roughly, before others get a turn. */
const turnMs = 5;
const gzipName = /\.(gz|tgz|gzip)$/i;

function filesBelow(
  source: string,
  contents: readonly FileDigest[],
  closed: readonly string[],
): Promise<string[]> {
  const within = closed.filter((path) => isWithin(source, path));
  const key = JSON.stringify([source, contents, within]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const search = walk(source, contents, new Set(within));
  known.set(key, search);
  search.catch(() => known.delete(key));
  return search;
}

async function walk(
  source: string,
  contents: readonly FileDigest[],
  closed: ReadonlySet<string>,
): Promise<string[]> {
  const hashes = new Set(contents.map(({ sha256: hash }) => hash));
  const sizes = new Set(contents.map(({ bytes }) => bytes));
  const found: string[] = [];
  const folders: string[] = [];
  const addFile = (path: string) => {
    if (isOneOf(path, sizes, hashes)) found.push(path);
  };
  if (lstatSync(source).isDirectory()) folders.push(source);
  else addFile(source);
  let turn = performance.now();
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (closed.has(path)) continue;
      if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile()) addFile(path);
    }
    if (performance.now() - turn < turnMs) continue;
    await othersTurn();
    turn = performance.now();
  }
  return found;
}

/** Sizes come first, because hardly any file has a wanted one. */
function isOneOf(path: string, sizes: ReadonlySet<number>, hashes: ReadonlySet<string>): boolean {
  try {
    const { size } = lstatSync(path);
    if (sizes.has(size) && hashes.has(sha256(readFileSync(path)))) return true;
    if (!gzipName.test(path)) return false;
    const unpacked = unpackedSize(path, size);
    if (unpacked === null || !sizes.has(unpacked)) return false;
    return hashes.has(sha256(gunzipSync(readFileSync(path), { maxOutputLength: Math.max(1, unpacked) })));
  } catch {
    // A file that can't be read here can't be read inside, and one that is not a gzip file has no compressed content.
    return false;
  }
}

/** From the last four bytes of a gzip file. */
function unpackedSize(path: string, size: number): number | null {
  if (size < 18) return null;
  const file = openSync(path, 'r');
  try {
    const last = Buffer.alloc(4);
    readSync(file, last, 0, 4, size - 4);
    return last.readUInt32LE();
  } finally {
    closeSync(file);
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}
