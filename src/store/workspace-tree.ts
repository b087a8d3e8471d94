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

/** No file has this number: it marks a restored file that was not checked since. */
const unknownInode = -1;

/** The tree of a workspace that was just restored from a snapshot. */
export function restoredTree(entries: readonly SnapshotEntry[]): FolderNode {
  const root = newFolder();
  const folders = new Map([['', root]]);
  for (const entry of entries) {
    const cut = entry.path.lastIndexOf('/');
    const parent = folders.get(entry.path.slice(0, Math.max(cut, 0)));
    // Entries are sorted by path, so a folder comes before its contents.
    if (parent === undefined) throw new Error(`nothing holds ${entry.path}`);
    const node = restoredNode(entry);
    if (node.kind === 'folder') folders.set(entry.path, node);
    parent.children.set(entry.path.slice(cut + 1), node);
  }
  return root;
}

function restoredNode(entry: SnapshotEntry): WorkspaceNode {
  if ('folder' in entry) return newFolder();
  const stat = { ino: unknownInode, size: 0, mode: 0, mtimeMs: 0, ctimeMs: 0 };
  if ('link' in entry) return { kind: 'link', stat, target: entry.link, racy: true, seen: 0 };
  const { object, size, mode, mtime } = entry;
  return {
    kind: 'file',
    stat: { ...stat, size, mode, mtimeMs: mtime },
    object,
    bytes: size,
    racy: true,
    seen: 0,
  };
}

/** Whether a file that was restored and not checked since still is as restored. */
export function isAsRestored({ stat, object }: FileNode, found: StatMark): boolean {
  return (
    stat.ino === unknownInode &&
    object !== null &&
    stat.size === found.size &&
    stat.mode === (found.mode & 0o777) &&
    stat.mtimeMs === Math.round(found.mtimeMs)
  );
}

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

/** The paths of a node and of everything below it. */
export function collectPaths(node: WorkspaceNode, path: string, paths: string[]): void {
  paths.push(path);
  if (node.kind !== 'folder') return;
  for (const [name, child] of node.children) collectPaths(child, `${path}/${name}`, paths);
}
