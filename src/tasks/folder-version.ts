import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../lib/hash.ts';
import { type FolderFile, listFolderFiles } from './folder-files.ts';

/** Hashes of files by path: of one that no write has touched since, the content need not be read again. */
const known = new Map<string, { state: string; hash: string }>();
/** What versions were made of: a hash by path. */
const contents = new Map<string, ReadonlyMap<string, string>>();

/**
 * SHA-256 over names and contents of a folder's files, in hex. It does not depend on where the folder is, on modes and
 * times, or on caches that tools left in it.
 */
export function folderVersion(folder: string, include: (path: string) => boolean = () => true): string {
  const files = listFolderFiles(folder).filter((file) => include(file.path));
  const hashes = new Map(files.map((file) => [file.path, hashOf(folder, file)]));
  const version = sha256([...hashes].map((each) => JSON.stringify(each)).join('\n'));
  contents.set(version, hashes);
  return version;
}

/** The files of a folder that have changed since this process computed its version; none if it never did. */
export function changedFiles(folder: string, version: string): string[] {
  const before = contents.get(version);
  const now = contents.get(folderVersion(folder));
  if (before === undefined || now === undefined) return [];
  const paths = new Set([...before.keys(), ...now.keys()]);
  return [...paths].filter((path) => before.get(path) !== now.get(path)).sort();
}

function hashOf(folder: string, { path, kind }: FolderFile): string {
  const place = join(folder, path);
  if (kind !== 'file') return `${kind} ${target(place)}`;
  const { ino, size, mtimeMs, ctimeMs } = statSync(place);
  const state = [ino, size, mtimeMs, ctimeMs].join();
  const before = known.get(place);
  if (before?.state === state) return before.hash;
  const hash = sha256(readFileSync(place));
  known.set(place, { state, hash });
  return hash;
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
