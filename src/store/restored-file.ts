import { closeSync, fchmodSync, fstatSync, ftruncateSync, futimesSync, unlinkSync, writeSync } from 'node:fs';
import { DisposableStack } from '../lib/disposable-stack.ts';
import type { FolderHandle } from '../lib/folder-handle.ts';
import type { SnapshotEntry } from '../schema/index.ts';
import { copySmall, openUnchanged } from './file-reading.ts';
import type { ObjectStore } from './object-store.ts';
import { type FileNode, markOf } from './workspace-tree.ts';

/** The last moment of a `Date`, in milliseconds since 1970. The kernel refuses much later ones of forged snapshots. */
const latestTime = 8.64e15;

/** Larger contents are never fully in memory, and are copied by the kernel. */
export const memoryBytes = 2 ** 20;
const zeros = Buffer.alloc(2 ** 14);

export type FileEntry = Extract<SnapshotEntry, { object: unknown }>;

export interface FileToCopy {
  name: string;
  /** What was last seen of the original. */
  node: FileNode;
  /** What its copy must be. */
  entry: FileEntry;
}

/** Copies a small file from one folder to another. Null, with nothing left, if the original has changed. */
export function copyUnchanged(
  from: FolderHandle,
  to: FolderHandle,
  { name, node, entry }: FileToCopy,
): FileNode | null {
  using opened = new DisposableStack();
  const original = openUnchanged(from, name, node);
  if (original === null) return null;
  opened.adopt(original, closeSync);
  const target = opened.adopt(to.createFile(name), closeSync);
  if (copySmall(original, node, target)) return finishFile(target, entry);
  unlinkSync(to.at(name));
  return null;
}

/** Gives a file that was just written its permissions and time. */
export function finishFile(target: number, { object, size, mode, mtime }: FileEntry): FileNode {
  fchmodSync(target, mode & 0o777);
  const seconds = Math.min(mtime, latestTime) / 1000;
  futimesSync(target, seconds, seconds);
  return { kind: 'file', stat: markOf(fstatSync(target)), object, bytes: size, racy: true, seen: 0 };
}

/** A content from the store that fits into memory. */
export function writeSmall(objects: ObjectStore, entry: FileEntry, target: number): void {
  const content = objects.get(entry.object, entry.size);
  ftruncateSync(target, 0);
  writePiece(target, content, 0);
  ftruncateSync(target, content.length);
}

/** Any content from the store. */
export async function writeContent(
  objects: ObjectStore,
  entry: FileEntry,
  target: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (entry.size <= memoryBytes) return writeSmall(objects, entry, target);
  ftruncateSync(target, 0);
  let position = 0;
  for await (const chunk of objects.openReadStream(entry.object, entry.size)) {
    signal?.throwIfAborted();
    writePiece(target, chunk as Buffer, position);
    position += (chunk as Buffer).length;
  }
  ftruncateSync(target, position);
}

/** Into an empty file: blocks of zeros are skipped, so that a sparse file stays sparse. */
function writePiece(descriptor: number, chunk: Buffer, start: number): void {
  for (let at = 0; at < chunk.length; at += zeros.length) {
    const piece = chunk.subarray(at, at + zeros.length);
    if (piece.equals(zeros.subarray(0, piece.length))) continue;
    for (let done = 0; done < piece.length; ) {
      done += writeSync(descriptor, piece, done, piece.length - done, start + at + done);
    }
  }
}
