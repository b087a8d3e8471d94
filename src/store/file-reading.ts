import {
  closeSync,
  constants,
  fstatSync,
  futimesSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode } from '../lib/errors.ts';
import type { FolderHandle } from '../lib/folder-handle.ts';
import type { ObjectId } from '../schema/index.ts';
import { readRangeSync } from './file-chunks.ts';
import type { ObjectBatch } from './object-batch.ts';
import type { ObjectStore } from './object-store.ts';
import { type FileNode, markOf, sameStat } from './workspace-tree.ts';

/**
 * The clocks of file systems tick in steps of up to 10 ms, and times are rounded; some keep whole seconds, or only even
 * ones.
 */
const fineTickMs = 12;
const coarseTickMs = 2_050;
/** About what can be read and hashed. */
const readBytesPerMs = 1_000_000;
const attempts = 3;
/** Linux's O_TMPFILE. */
const unnamed = 0o20000000 | constants.O_DIRECTORY;
/** Used again for every file: fresh memory takes as long as the copying itself. */
const copied = Buffer.allocUnsafeSlow(2 ** 17);

/** Why an entry of the workspace is not in its snapshot. Older traces say `special` for a pipe, a socket or a device. */
export type SkipReason =
  | 'pipe'
  | 'socket'
  | 'device'
  | 'unreadable'
  | 'unstable'
  | 'too_deep'
  | 'too_many'
  | 'too_large';

/** Larger files are read after the walk, as streams. */
export const inlineBytes = 2 ** 16;

/**
 * Stores a small file's content, synchronously. A file that changes while it is read is read again, up to three times
 * in all. Null if it is no longer a small file.
 */
export function readSmallFile(
  objects: ObjectBatch,
  folder: FolderHandle,
  name: string,
  seen: number,
): FileNode | SkipReason | null {
  const opened = openRegularFile(folder, name);
  if (typeof opened === 'string') return opened;
  const { descriptor } = opened;
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
  const opened = openRegularFile(folder, name);
  if (typeof opened === 'string') return opened;
  const { descriptor } = opened;
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
 * Opens a file that is unchanged since its content was last read; null if it has changed, or is sparse, as its copy
 * should be.
 * @param node what was recorded of the file
 */
export function openUnchanged(folder: FolderHandle, name: string, node: FileNode): number | null {
  if (node.racy) return null;
  const opened = openRegularFile(folder, name);
  if (typeof opened === 'string') return null;
  const { descriptor, stat } = opened;
  if (sameStat(node.stat, stat) && stat.blocks * 512 >= stat.size) return descriptor;
  closeSync(descriptor);
  return null;
}

/** False if the file changed meanwhile: the target's content is then undefined. */
export function copySmall(source: number, node: FileNode, target: number): boolean {
  for (let at = 0; at < node.stat.size; ) {
    const length = readSync(source, copied, 0, copied.length, at);
    if (length === 0) break;
    for (let done = 0; done < length; ) done += writeSync(target, copied, done, length - done, at + done);
    at += length;
  }
  return sameStat(node.stat, fstatSync(source));
}

/** As `copySmall`, for files of any size: the kernel copies, sharing blocks if it can. */
export async function copyLarge(source: number, node: FileNode, target: number): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  await copyFile(`/proc/self/fd/${source}`, `/proc/self/fd/${target}`, constants.COPYFILE_FICLONE);
  return sameStat(node.stat, fstatSync(source));
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

/** The open file, or why there is none. */
function openRegularFile(
  folder: FolderHandle,
  name: string,
): { descriptor: number; stat: Stats } | SkipReason {
  let descriptor: number;
  try {
    descriptor = folder.openFile(name);
  } catch (error) {
    if (isForbidden(error)) return 'unreadable';
    if (isSwap(error)) return 'unstable';
    throw error;
  }
  const stat = fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, stat };
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

/**
 * For files that were just made, and that nobody else can have changed: waits until a change would show in their times,
 * if that is shorter than reading them again.
 * @param folder in which they are
 */
export async function letAge(
  folder: string,
  files: readonly FileNode[],
  signal?: AbortSignal,
): Promise<void> {
  const isExact = everyChangeShows(folder);
  let now = Date.now();
  const young = isExact ? [] : files.filter(({ stat }) => isRacy(stat, now));
  const bytes = young.reduce((sum, file) => sum + file.bytes, 0);
  const newest = young.reduce((latest, { stat }) => Math.max(latest, stat.ctimeMs), 0);
  const wait = Math.ceil(newest + fineTickMs - now);
  if (wait > 0 && wait <= fineTickMs && bytes >= wait * readBytesPerMs) {
    await sleep(wait, undefined, { signal });
    now = Date.now();
  }
  for (const file of files) file.racy = !isExact && isRacy(file.stat, now);
}

/**
 * Whether the file system gives a file a new time at each change since its times were last read, as Linux does since
 * 6.13 on ext4, XFS, Btrfs and tmpfs. Tries it on a file without a name.
 */
function everyChangeShows(folder: string): boolean {
  if (process.platform !== 'linux') return false;
  let file: number;
  try {
    file = openSync(folder, unnamed | constants.O_RDWR, 0o600);
  } catch {
    return false;
  }
  try {
    const began = performance.now();
    for (let tries = 8, last = 0; tries > 0; tries--) {
      futimesSync(file, 0, 0);
      const { ctimeMs } = fstatSync(file);
      if (ctimeMs <= last) return false;
      last = ctimeMs;
    }
    // No clock ticks more than once in a millisecond.
    return performance.now() - began < 4;
  } finally {
    closeSync(file);
  }
}

export function isForbidden(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM');
}

/** The entry was removed or replaced between two calls, or a process holds it with a lease (`EAGAIN`). */
export function isSwap(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL', 'ENXIO', 'EAGAIN'].some((code) => hasCode(error, code));
}
