import type { ObjectId, SnapshotEntry } from '../schema/index.ts';

/** The `lstat` of an entry when its content was read; while that is the same, the content is the same. */
export interface StatMark {
  ino: number;
  size: number;
  mode: number;
  mtimeMs: number;
  ctimeMs: number;
}

export interface FileNode {
  kind: 'file';
  stat: StatMark;
  /** Null until the content has been read. */
  object: ObjectId | null;
  /** Bytes that were read. */
  bytes: number;
  /** It changed so shortly before it was read that another change could leave the same times: read it again. */
  racy: boolean;
  /** Number of the walk that saw it last. */
  seen: number;
}

export interface LinkNode {
  kind: 'link';
  stat: StatMark;
  target: string;
  racy: boolean;
  seen: number;
}

export interface FolderNode {
  kind: 'folder';
  children: Map<string, WorkspaceNode>;
  seen: number;
}

export type WorkspaceNode = FileNode | LinkNode | FolderNode;

export function newFolder(): FolderNode {
  return { kind: 'folder', children: new Map(), seen: 0 };
}

/** Node's `Stats` also fits `StatMark`; this keeps only the compared fields. */
export function markOf(stat: StatMark): StatMark {
  return { ino: stat.ino, size: stat.size, mode: stat.mode, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs };
}

export function sameStat(one: StatMark, other: StatMark): boolean {
  return (
    one.ino === other.ino &&
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs &&
    one.mode === other.mode
  );
}

/** All entries below a folder, in no particular order; files that could not be read are left out. */
export function collectEntries(
  folder: FolderNode,
  prefix: string,
  entries: SnapshotEntry[],
): SnapshotEntry[] {
  for (const [name, node] of folder.children) {
    const path = prefix + name;
    if (node.kind === 'link') entries.push({ path, link: node.target });
    else if (node.kind === 'file') {
      if (node.object !== null) entries.push(fileEntry(path, node, node.object));
    } else {
      entries.push({ path, folder: true });
      collectEntries(node, `${path}/`, entries);
    }
  }
  return entries;
}

function fileEntry(path: string, node: FileNode, object: ObjectId): SnapshotEntry {
  const { mode, mtimeMs } = node.stat;
  // Whole milliseconds, which can be restored on every file system.
  return { path, object, size: node.bytes, mode: mode & 0o777, mtime: Math.round(mtimeMs) };
}

/** All files below a folder. */
export function* filesIn(folder: FolderNode): Generator<FileNode> {
  for (const node of folder.children.values()) {
    if (node.kind === 'file') yield node;
    else if (node.kind === 'folder') yield* filesIn(node);
  }
}

/** The paths of a node and of everything below it. */
export function collectPaths(node: WorkspaceNode, path: string, paths: string[]): void {
  paths.push(path);
  if (node.kind !== 'folder') return;
  for (const [name, child] of node.children) collectPaths(child, `${path}/${name}`, paths);
}
