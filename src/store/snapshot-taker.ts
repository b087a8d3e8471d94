import { setImmediate } from 'node:timers/promises';
import { FolderHandle, openBeneath } from '../lib/folder-handle.ts';
import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import { isForbidden, isSwap, letAge, readLargeFile, type SkipReason } from './file-reading.ts';
import { ObjectBatch } from './object-batch.ts';
import type { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { byPath, bytesOf, serializeSnapshot } from './snapshot-file.ts';
import { collectEntries, type FileNode, type FolderNode, filesIn, newFolder } from './workspace-tree.ts';
import {
  type Effort,
  type PendingFile,
  type SkippedEntry,
  TooMuchEffort,
  WorkspaceWalk,
} from './workspace-walk.ts';

export interface SnapshotOptions {
  /** Names directly in the workspace that are not part of it, such as the mount point of the data. */
  ignore?: readonly string[];
  /**
   * Reads every file again, whatever its times. For the last snapshot of a run: a program that still runs can write
   * through a memory map without changing any time.
   */
  full?: boolean;
  /** Entries beyond these numbers are skipped and reported. */
  maxEntries?: number;
  maxDepth?: number;
  /**
   * For all files together. Sparse files and hard links count in full, as they do once they are restored. What does not
   * fit is skipped, large files first, and reported.
   */
  maxBytes?: number | undefined;
  /** Files to store before others if not all fit. */
  first?: readonly string[];
  signal?: AbortSignal | undefined;
}

export interface TakerRestoreOptions {
  ignore: readonly string[];
  from?: SnapshotTaker | undefined;
  signal?: AbortSignal | undefined;
}

/** What a snapshotter remembers of its workspace: plain data, with which another thread can continue. */
export interface TakerState {
  tree: FolderNode;
  walks: number;
  last: LastSnapshot | null;
}

export interface TakenSnapshot {
  /** The object that lists the entries. */
  id: ObjectId;
  /** Sorted by path. */
  entries: readonly SnapshotEntry[];
  /** Bytes of all files together. */
  bytes: number;
  /**
   * Paths that were added or removed, or whose content, permissions, target or kind differ from the snapshot before;
   * sorted.
   */
  changed: string[];
  /** Paths of other files that were written, or replaced, with the same content as before; sorted. */
  touched: string[];
  /** What could not be stored: FIFOs, sockets and devices, unreadable files, anything beyond the limits; sorted. */
  skipped: SkippedEntry[];
}

type LastSnapshot = Pick<TakenSnapshot, 'id' | 'entries' | 'bytes'>;

/**
 * Takes successive snapshots of one workspace, and remembers the `lstat` of every entry: a snapshot costs one `lstat`
 * per entry and reads only what changed. Agent code may do anything to the workspace meanwhile: no link is followed,
 * nothing blocks, and every recorded content was actually read.
 */
export class SnapshotTaker {
  readonly #objects: ObjectStore;
  readonly #workspace: string;
  #tree = newFolder();
  #walks = 0;
  #last: LastSnapshot | null = null;
  #taking = false;

  /**
   * @param workspace absolute path of the folder
   * @param state of another snapshotter of the workspace that takes no more snapshots
   */
  constructor(objects: ObjectStore, workspace: string, state?: TakerState) {
    this.#objects = objects;
    this.#workspace = workspace;
    if (state === undefined) return;
    this.#tree = state.tree;
    this.#walks = state.walks;
    this.#last = state.last;
  }

  get state(): TakerState {
    return { tree: this.#tree, walks: this.#walks, last: this.#last };
  }

  /** The first one reads everything and reports everything as changed. */
  async take(options: SnapshotOptions = {}): Promise<TakenSnapshot> {
    const taken = await this.takeWithin(
      { entries: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY },
      options,
    );
    if (taken === null) throw new Error('a walk without limits was given up');
    return taken;
  }

  /** See `Snapshotter.restore`. */
  async restore(id: ObjectId, { ignore, from, signal }: TakerRestoreOptions): Promise<TakenSnapshot> {
    const source = from && {
      workspace: from.#workspace,
      tree: from.#tree,
      entries: from.#last?.id === id ? from.#last.entries : undefined,
    };
    const { entries, tree } = await restoreSnapshot(this.#objects, id, this.#workspace, {
      ignore,
      source,
      signal,
    });
    await letAge(this.#workspace, [...filesIn(tree)], signal);
    this.#tree = tree;
    this.#last = { id, entries, bytes: bytesOf(entries) };
    return { ...this.#last, changed: [], touched: [], skipped: [] };
  }

  /** Null, with no state changed, if the workspace takes more effort than this. */
  async takeWithin(effort: Effort, options: SnapshotOptions = {}): Promise<TakenSnapshot | null> {
    if (this.#taking) throw new Error('a snapshot of this workspace is being taken already');
    this.#taking = true;
    try {
      return await this.#take(effort, options);
    } catch (error) {
      // An interrupted walk leaves the tree in an inconsistent state.
      this.#tree = newFolder();
      this.#last = null;
      throw error;
    } finally {
      this.#taking = false;
    }
  }

  async #take(effort: Effort, options: SnapshotOptions): Promise<TakenSnapshot | null> {
    options.signal?.throwIfAborted();
    using batch = new ObjectBatch(this.#objects);
    const walk = new WorkspaceWalk(batch, {
      number: ++this.#walks,
      limits: {
        entries: options.maxEntries ?? 200_000,
        depth: options.maxDepth ?? 400,
        bytes: options.maxBytes ?? Number.POSITIVE_INFINITY,
      },
      trustStat: options.full !== true,
      effort,
      signal: options.signal,
    });
    try {
      using root = FolderHandle.open(this.#workspace);
      await walk.visit(root, this.#tree, '', options.ignore?.length ? new Set(options.ignore) : null);
    } catch (error) {
      if (!(error instanceof TooMuchEffort)) throw error;
      walk.undo();
      return null;
    }
    batch.finish();
    if (walk.pending.length > 0) await this.#readPending(walk, options);
    if (walk.dirty || this.#last === null) this.#last = this.#keep();
    return {
      ...this.#last,
      changed: walk.changed.sort(),
      touched: walk.touched.sort(),
      skipped: walk.skipped.sort(byPath),
    };
  }

  async #readPending(walk: WorkspaceWalk, { first, signal }: SnapshotOptions): Promise<void> {
    const isFirst = ({ folders, name }: PendingFile) =>
      first?.includes([...folders, name].join('/')) === true;
    const inOrder = walk.pending.toSorted(
      (one, other) => Number(isFirst(other)) - Number(isFirst(one)) || one.bytes - other.bytes,
    );
    for (const [index, file] of inOrder.entries()) {
      signal?.throwIfAborted();
      if (index % 32 === 31) await setImmediate();
      walk.settle(file, await this.#readPendingFile(file, walk.bytesLeft, signal));
    }
  }

  async #readPendingFile(
    file: PendingFile,
    maxBytes: number,
    signal?: AbortSignal,
  ): Promise<FileNode | SkipReason> {
    if (file.bytes > maxBytes) return 'too_large';
    try {
      using folder = openBeneath(this.#workspace, file.folders);
      return await readLargeFile(this.#objects, folder, file.name, { seen: this.#walks, maxBytes, signal });
    } catch (error) {
      if (isForbidden(error)) return 'unreadable';
      if (isSwap(error)) return 'unstable';
      throw error;
    }
  }

  #keep(): LastSnapshot {
    const entries = collectEntries(this.#tree, '', []).sort(byPath);
    const id = this.#objects.putText(serializeSnapshot(entries));
    return { id, entries, bytes: bytesOf(entries) };
  }
}
