import { UserError } from '../lib/errors.ts';
import { encodePath, showPath } from '../lib/path-text.ts';
import { type ObjectId, Snapshot, type SnapshotEntry } from '../schema/index.ts';
import { parseStoredText } from './documents.ts';
import type { ObjectStore } from './object-store.ts';

/** The content of a snapshot's object: the same workspace gives the same bytes. One entry per line. */
export function serializeSnapshot(entries: readonly SnapshotEntry[]): string {
  if (entries.length === 0) return '{"v":1,"entries":[]}\n';
  return `{"v":1,"entries":[\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n]}\n`;
}

/**
 * Stores a snapshot that was not taken of a folder.
 * @param entries in any order; with the folders that contain them
 */
export function storeSnapshot(objects: ObjectStore, entries: readonly SnapshotEntry[]): ObjectId {
  return objects.putText(serializeSnapshot(entries.toSorted(byPath)));
}

/** The order of entries: by the UTF-16 code units of their paths, as `<` compares them. */
export function byPath(one: { path: string }, other: { path: string }): number {
  return one.path < other.path ? -1 : one.path > other.path ? 1 : 0;
}

/** Bytes of all files together. */
export function bytesOf(entries: readonly SnapshotEntry[]): number {
  return entries.reduce((sum, entry) => sum + ('object' in entry ? entry.size : 0), 0);
}

/**
 * Reads a snapshot and checks its paths, so that writing its files never leaves the target folder.
 * @throws UserError `object_missing`, `object_corrupt`, `broken_file`, `future_version`, `unsafe_snapshot`
 */
export function readSnapshot(objects: ObjectStore, id: ObjectId): Snapshot {
  const snapshot = parseStoredText(Snapshot, objects.getText(id), `snapshot ${id}`);
  const fault = findUnsafePath(snapshot.entries);
  if (fault === null) return snapshot;
  throw unsafe(id, fault);
}

/**
 * Reads all files of a snapshot to their ends.
 * @param measured bytes of contents that are known to be intact; those read now are added
 * @throws UserError as `readSnapshot` and `ObjectStore.get`; `unsafe_snapshot` if it gives a file another size
 */
export async function checkFiles(
  objects: ObjectStore,
  id: ObjectId,
  measured: Map<ObjectId, number>,
  signal?: AbortSignal,
): Promise<void> {
  for (const entry of readSnapshot(objects, id).entries) {
    if (!('object' in entry)) continue;
    if (!measured.has(entry.object)) measured.set(entry.object, await objects.measure(entry.object, signal));
    checkSize(id, entry, measured.get(entry.object));
  }
}

/** @throws UserError `unsafe_snapshot` if a snapshot gives a file another size than its content has */
export function checkSize(id: ObjectId, entry: { path: string; size: number }, bytes?: number): void {
  if (bytes === undefined || bytes === entry.size) return;
  throw unsafe(id, `${showPath(entry.path)} has ${bytes} bytes, not ${entry.size}`);
}

function unsafe(id: ObjectId, fault: string): UserError {
  return new UserError(
    'unsafe_snapshot',
    `Snapshot ${id} was not made by mlab: ${fault}`,
    'Do not use this experiment folder: somebody has changed it.',
  );
}

function findUnsafePath(entries: readonly SnapshotEntry[]): string | null {
  const folders = new Map<string, boolean>();
  for (const entry of entries) {
    if (!isSafePath(entry.path)) return `${showPath(entry.path)} is not a path inside a workspace`;
    if (folders.has(entry.path)) return `${showPath(entry.path)} occurs twice`;
    folders.set(entry.path, 'folder' in entry);
  }
  for (const { path } of entries) {
    const parent = path.slice(0, Math.max(path.lastIndexOf('/'), 0));
    if (parent !== '' && folders.get(parent) !== true) {
      return `${showPath(path)} is not in a folder of the snapshot`;
    }
  }
  return null;
}

/** Whether a path names something inside a workspace, and can be written there. */
export function isSafePath(path: string): boolean {
  if (path.includes('\0') || encodePath(path) === null) return false;
  return path.split('/').every((name) => name !== '' && name !== '.' && name !== '..');
}
