import { closeSync, constants, fstatSync, type Stats, writeSync } from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { hasCode } from '../lib/errors.ts';
import type { FolderHandle } from '../lib/folder-handle.ts';
import type { ObjectId } from '../schema/index.ts';
import { readRangeSync } from './file-chunks.ts';
import type { ObjectStore } from './object-store.ts';
import { type FileNode, markOf, sameStat } from './workspace-tree.ts';

/** The clocks of file systems tick in steps of up to 10 ms; some keep whole seconds, or only even ones. */
const fineTickMs = 50;
const coarseTickMs = 2_050;
const attempts = 3;

/** Why an entry of the workspace is not in its snapshot. */
export type SkipReason = 'special' | 'unreadable' | 'unstable' | 'too_deep' | 'too_many' | 'too_large';

/** Larger files are read after the walk, as streams. */
export const inlineBytes = 2 ** 16;

/**
 * Stores a small file's content, synchronously. A file that changes while it is read is read again, up to three times
 * in all. Null if it is no longer a small file.
 */
export function readSmallFile(
  objects: ObjectStore,
  folder: FolderHandle,
  name: string,
  seen: number,
): FileNode | SkipReason | null {
  const descriptor = openRegularFile(folder, name);
  if (typeof descriptor === 'string') return descriptor;
  try {
    for (let attempt = 1; ; attempt++) {
      const readAt = Date.now();
      const before = fstatSync(descriptor);
      if (before.size > inlineBytes) return null;
      const content = readRangeSync(descriptor, 0, before.size);
      const stable = sameStat(before, fstatSync(descriptor));
      if (!stable && attempt < attempts) continue;
      return readFile(before, { id: objects.putBytes(content), bytes: content.length }, readAt, stable, seen);
    }
  } finally {
    closeSync(descriptor);
  }
}

/** As `readSmallFile`, for a file of any size up to `maxBytes`. */
export async function readLargeFile(
  objects: ObjectStore,
  folder: FolderHandle,
  name: string,
  { seen, maxBytes, signal }: { seen: number; maxBytes: number; signal?: AbortSignal | undefined },
): Promise<FileNode | SkipReason> {
  const descriptor = openRegularFile(folder, name);
  if (typeof descriptor === 'string') return descriptor;
  try {
    for (let attempt = 1; ; attempt++) {
      const readAt = Date.now();
      const before = fstatSync(descriptor);
      if (before.size > maxBytes) return 'too_large';
      const kept = await objects.putFile(descriptor, signal);
      const stable = sameStat(before, fstatSync(descriptor));
      if (stable || attempt === attempts) return readFile(before, kept, readAt, stable, seen);
    }
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Opens a file that is unchanged since its content was last read; null if it has changed.
 * @param node what was recorded of the file
 */
export function openUnchanged(folder: FolderHandle, name: string, node: FileNode): number | null {
  if (node.racy) return null;
  const descriptor = openRegularFile(folder, name);
  if (typeof descriptor === 'string') return null;
  if (isUnchanged(descriptor, node)) return descriptor;
  closeSync(descriptor);
  return null;
}

/** False if the file changed meanwhile: the target's content is then undefined. */
export function copySmall(source: number, node: FileNode, target: number): boolean {
  const content = readRangeSync(source, 0, node.stat.size);
  for (let at = 0; at < content.length; ) at += writeSync(target, content, at, content.length - at, at);
  return isUnchanged(source, node);
}

/** As `copySmall`, for files of any size: the kernel copies, sharing blocks if it can. */
export async function copyLarge(source: number, node: FileNode, target: number): Promise<boolean> {
  // Copies of sparse files should be sparse, too.
  const { blocks, size } = fstatSync(source);
  if (process.platform !== 'linux' || blocks * 512 < size) return false;
  await copyFile(`/proc/self/fd/${source}`, `/proc/self/fd/${target}`, constants.COPYFILE_FICLONE);
  return isUnchanged(source, node);
}

function isUnchanged(descriptor: number, { stat }: FileNode): boolean {
  return sameStat(stat, fstatSync(descriptor));
}

function readFile(
  stat: Stats,
  kept: { id: ObjectId; bytes: number },
  readAt: number,
  stable: boolean,
  seen: number,
): FileNode {
  const racy = !stable || isRacy(stat, readAt);
  return { kind: 'file', stat: markOf(stat), object: kept.id, bytes: kept.bytes, racy, seen };
}

/** The descriptor, or why there is none. */
function openRegularFile(folder: FolderHandle, name: string): number | SkipReason {
  let descriptor: number;
  try {
    descriptor = folder.openFile(name);
  } catch (error) {
    if (isForbidden(error)) return 'unreadable';
    if (isSwap(error)) return 'unstable';
    throw error;
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  return 'unstable';
}

/**
 * A change after `readAt` can leave the same times if the clock of the file system had not ticked meanwhile. A time in
 * the future (another machine's clock) says nothing, so it counts as racy too.
 */
export function isRacy(stat: { mtimeMs: number; ctimeMs: number }, readAt: number): boolean {
  const tick = stat.ctimeMs % 1000 === 0 && stat.mtimeMs % 1000 === 0 ? coarseTickMs : fineTickMs;
  // Only ctime counts, because programs can set mtime as they like.
  return stat.ctimeMs > readAt - tick;
}

export function isForbidden(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM');
}

/** The entry was removed or replaced between two calls, or a process holds it with a lease (`EAGAIN`). */
export function isSwap(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO', 'EAGAIN'].some((code) => hasCode(error, code));
}
