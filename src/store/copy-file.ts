import { closeSync, fchmodSync, fstatSync, futimesSync, unlinkSync } from 'node:fs';
import { DisposableStack } from '../lib/disposable-stack.ts';
import type { FolderHandle } from '../lib/folder-handle.ts';
import type { SnapshotEntry } from '../schema/index.ts';
import { copySmall, openUnchanged } from './file-reading.ts';
import { type FileNode, markOf } from './workspace-tree.ts';

/** The last moment of a `Date`, in milliseconds since 1970. The kernel refuses much later ones of forged snapshots. */
const latestTime = 8.64e15;

export type FileEntry = Extract<SnapshotEntry, { object: unknown }>;

export interface FileToCopy {
  name: string;
  /** What was last seen of the original. */
  node: FileNode;
  /** What its copy must be. */
  entry: FileEntry;
}

/** Copies a file of up to some MB from one folder to another. Null, with nothing left, if the original has changed. */
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
