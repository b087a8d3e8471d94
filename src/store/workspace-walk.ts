import type { Stats } from 'node:fs';
import type { FolderHandle } from '../lib/folder-handle.ts';
import { ownTurn } from '../lib/own-turn.ts';
import { inlineBytes, isForbidden, isRacy, isSwap, readSmallFile, type SkipReason } from './file-reading.ts';
import type { ObjectBatch } from './object-batch.ts';
import type { FileNode, FolderNode, LinkNode, WorkspaceNode } from './workspace-tree.ts';
import { collectPaths, markOf, newFolder, sameStat } from './workspace-tree.ts';

const typeMask = 0o170000;
const folderType = 0o040000;
const fileType = 0o100000;
const linkType = 0o120000;
const pipeType = 0o010000;
const socketType = 0o140000;

/** How long the walk runs before others get a turn. */
const turnMs = 4;

export interface SkippedEntry {
  path: string;
  reason: SkipReason;
}

export interface WalkLimits {
  entries: number;
  depth: number;
  /** For all files together, by their apparent size: sparse files and hard links count in full. */
  bytes: number;
}

/** How many entries a walk may visit before it gives up. */
export interface Effort {
  entries: number;
  /** For new contents. */
  bytes: number;
}

/** The workspace exceeds the walk's effort; the tree is as it was before the walk. */
export class TooMuchEffort extends Error {
  override readonly name = 'TooMuchEffort';
}

/** A file whose content is read after the walk. */
export interface PendingFile {
  folders: readonly string[];
  name: string;
  parent: FolderNode;
  previous: WorkspaceNode | undefined;
  /** Its size when it was found. */
  bytes: number;
}

/** The result of one walk; `dirty` means that the snapshot differs from the one before. */
export class WorkspaceWalk {
  readonly changed: string[] = [];
  readonly touched: string[] = [];
  readonly skipped: SkippedEntry[] = [];
  readonly pending: PendingFile[] = [];
  dirty = false;
  readonly #objects: ObjectBatch;
  readonly #number: number;
  readonly #limits: WalkLimits;
  readonly #trustStat: boolean;
  readonly #signal: AbortSignal | undefined;
  readonly #folders: string[] = [];
  readonly #effort: Effort;
  /** What the walk added to or removed from the tree, with what was there before. */
  readonly #replaced: {
    children: FolderNode['children'];
    name: string;
    before: WorkspaceNode | undefined;
  }[] = [];
  #entries = 0;
  #bytes = 0;
  #newBytes = 0;
  #began = performance.now();

  /** @param options.number higher than that of every walk before; `trustStat: false` reads every file again */
  constructor(
    objects: ObjectBatch,
    options: {
      number: number;
      limits: WalkLimits;
      trustStat: boolean;
      effort: Effort;
      signal?: AbortSignal | undefined;
    },
  ) {
    this.#objects = objects;
    this.#number = options.number;
    this.#limits = options.limits;
    this.#trustStat = options.trustStat;
    this.#effort = options.effort;
    this.#signal = options.signal;
  }

  /** How many bytes the files that are read after the walk may still add. */
  get bytesLeft(): number {
    return this.#limits.bytes - this.#bytes;
  }

  /** Restores the tree to its state before the walk. */
  undo(): void {
    for (const { children, name, before } of this.#replaced.reverse()) {
      if (before === undefined) children.delete(name);
      else children.set(name, before);
    }
  }

  /**
   * Updates a folder's node to what is on disk.
   * @throws TooMuchEffort; the tree is then inconsistent, see `undo`
   */
  async visit(
    handle: FolderHandle,
    folder: FolderNode,
    prefix: string,
    ignore: ReadonlySet<string> | null,
  ): Promise<void> {
    let present = 0;
    for (const name of handle.names()) {
      if (ignore?.has(name)) continue;
      if (this.#entries > this.#limits.entries) break;
      const visited = this.#visitEntry(handle, folder, name, prefix + name);
      if (typeof visited === 'boolean' ? visited : await visited) present++;
      // To store a new content takes up to a millisecond, so the time is looked at after each.
      if (performance.now() - this.#began < turnMs) continue;
      await ownTurn();
      this.#signal?.throwIfAborted();
      this.#began = performance.now();
    }
    if (present < folder.children.size) this.#dropUnseen(folder, prefix);
  }

  /** Adds the content of a file that was read after the walk to the tree. */
  settle(file: PendingFile, read: FileNode | SkipReason): void {
    const path = [...file.folders, file.name].join('/');
    if (typeof read === 'string') {
      file.parent.children.delete(file.name);
      this.#skip(path, read);
      if (file.previous) this.#replace(path, file.previous);
      return;
    }
    file.parent.children.set(file.name, read);
    this.#bytes += read.bytes;
    this.#compare(path, read, file.previous);
  }

  /** Whether the entry is part of the snapshot. */
  #visitEntry(
    handle: FolderHandle,
    folder: FolderNode,
    name: string,
    path: string,
  ): boolean | Promise<boolean> {
    const stat = statIfReadable(handle, name);
    if (stat === undefined) return false;
    if (stat === null) return this.#skip(path, 'unreadable');
    if (++this.#entries > this.#limits.entries) return this.#skip(path, 'too_many');
    if (this.#entries > this.#effort.entries) throw new TooMuchEffort();
    const previous = folder.children.get(name);
    const type = stat.mode & typeMask;
    if (type === folderType) return this.#visitFolder(handle, folder, name, path, previous);
    if (type === fileType) return this.#visitFile(handle, folder, name, path, stat, previous);
    if (type === linkType) return this.#visitLink(handle, folder, name, path, stat, previous);
    return this.#skip(path, type === pipeType ? 'pipe' : type === socketType ? 'socket' : 'device');
  }

  async #visitFolder(
    handle: FolderHandle,
    folder: FolderNode,
    name: string,
    path: string,
    previous: WorkspaceNode | undefined,
  ): Promise<boolean> {
    const node = previous?.kind === 'folder' ? previous : newFolder();
    if (node !== previous) this.#replace(path, previous);
    node.seen = this.#number;
    this.#put(folder, name, node);
    if (this.#folders.length >= this.#limits.depth) return this.#emptied(node, path, 'too_deep');
    const inner = openInner(handle, name);
    if (typeof inner === 'string') return this.#emptied(node, path, inner);
    using opened = inner;
    this.#folders.push(name);
    await this.visit(opened, node, `${path}/`, null);
    this.#folders.pop();
    return true;
  }

  /** A folder that can't be entered stays in the snapshot, without its contents. */
  #emptied(node: FolderNode, path: string, reason: SkipReason): true {
    for (const [name, child] of node.children) {
      collectPaths(child, `${path}/${name}`, this.changed);
      this.#remove(node, name, child);
      this.dirty = true;
    }
    this.#skip(path, reason);
    return true;
  }

  #visitFile(
    handle: FolderHandle,
    folder: FolderNode,
    name: string,
    path: string,
    stat: Stats,
    previous: WorkspaceNode | undefined,
  ): boolean {
    if (previous?.kind === 'file' && this.#trustStat && !previous.racy && sameStat(previous.stat, stat)) {
      previous.seen = this.#number;
      this.#bytes += previous.bytes;
      return true;
    }
    this.#newBytes += stat.size;
    if (this.#newBytes > this.#effort.bytes) throw new TooMuchEffort();
    const isSmall = stat.size <= Math.min(inlineBytes, this.bytesLeft);
    const read = isSmall ? readSmallFile(this.#objects, handle, name, this.#number) : null;
    if (typeof read === 'string') return this.#skip(path, read);
    if (read === null) {
      this.#put(folder, name, unreadFile(stat, this.#number));
      this.pending.push({ folders: [...this.#folders], name, parent: folder, previous, bytes: stat.size });
      return true;
    }
    this.#put(folder, name, read);
    this.#bytes += read.bytes;
    this.#compare(path, read, previous);
    return true;
  }

  #visitLink(
    handle: FolderHandle,
    folder: FolderNode,
    name: string,
    path: string,
    stat: Stats,
    previous: WorkspaceNode | undefined,
  ): boolean {
    if (previous?.kind === 'link' && this.#trustStat && !previous.racy && sameStat(previous.stat, stat)) {
      previous.seen = this.#number;
      return true;
    }
    const target = readLinkIfThere(handle, name);
    if (target === null) return this.#skip(path, 'unstable');
    const node: LinkNode = {
      kind: 'link',
      stat: markOf(stat),
      target,
      racy: isRacy(stat, Date.now()),
      seen: this.#number,
    };
    this.#put(folder, name, node);
    if (previous?.kind !== 'link') this.#replace(path, previous);
    else if (previous.target !== target) this.#change(path);
    return true;
  }

  #compare(path: string, node: FileNode, previous: WorkspaceNode | undefined): void {
    if (previous?.kind !== 'file') {
      this.#replace(path, previous);
      return;
    }
    const sameMode = (previous.stat.mode & 0o777) === (node.stat.mode & 0o777);
    if (previous.object !== node.object || !sameMode) {
      this.#change(path);
    } else if (!sameStat(previous.stat, node.stat)) {
      this.touched.push(path);
      this.dirty ||= Math.round(previous.stat.mtimeMs) !== Math.round(node.stat.mtimeMs);
    }
  }

  /** Before, there was an entry of another kind, or none. */
  #replace(path: string, previous: WorkspaceNode | undefined): void {
    if (previous) collectPaths(previous, path, this.changed);
    else this.changed.push(path);
    this.dirty = true;
  }

  #dropUnseen(folder: FolderNode, prefix: string): void {
    for (const [name, node] of folder.children) {
      if (node.seen === this.#number) continue;
      collectPaths(node, prefix + name, this.changed);
      this.#remove(folder, name, node);
      this.dirty = true;
    }
  }

  #put({ children }: FolderNode, name: string, node: WorkspaceNode): void {
    const before = children.get(name);
    if (before === node) return;
    this.#replaced.push({ children, name, before });
    children.set(name, node);
  }

  #remove({ children }: FolderNode, name: string, before: WorkspaceNode): void {
    this.#replaced.push({ children, name, before });
    children.delete(name);
  }

  #change(path: string): void {
    this.changed.push(path);
    this.dirty = true;
  }

  #skip(path: string, reason: SkipReason): false {
    this.skipped.push({ path, reason });
    return false;
  }
}

/** Undefined if it is gone, null if the folder may not be searched. */
function statIfReadable(handle: FolderHandle, name: string): Stats | undefined | null {
  try {
    return handle.stat(name);
  } catch (error) {
    if (isForbidden(error)) return null;
    throw error;
  }
}

function readLinkIfThere(handle: FolderHandle, name: string): string | null {
  try {
    return handle.readLink(name);
  } catch (error) {
    if (isSwap(error)) return null;
    throw error;
  }
}

/** A placeholder for a file that is read after the walk. */
function unreadFile(stat: Stats, seen: number): FileNode {
  return { kind: 'file', stat: markOf(stat), object: null, bytes: 0, racy: true, seen };
}

function openInner(handle: FolderHandle, name: string): FolderHandle | SkipReason {
  try {
    return handle.openFolder(name);
  } catch (error) {
    if (isForbidden(error)) return 'unreadable';
    if (isSwap(error)) return 'unstable';
    throw error;
  }
}
