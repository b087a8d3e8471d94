import { closeSync, mkdirSync } from 'node:fs';
import { DisposableStack } from '../lib/disposable-stack.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import { ownTurn } from '../lib/own-turn.ts';
import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import { copyLarge, isForbidden, isSwap, openUnchanged } from './file-reading.ts';
import type { ObjectStore } from './object-store.ts';
import { withoutRepositories } from './repositories.ts';
import {
  copyUnchanged,
  type FileEntry,
  type FileToCopy,
  finishFile,
  memoryBytes,
  writeContent,
  writeSmall,
} from './restored-file.ts';
import { readSnapshot } from './snapshot-file.ts';
import { secondCopier } from './threads/second-copier.ts';
import { type FolderNode, markOf, newFolder } from './workspace-tree.ts';

const mostMeanwhile = 4;
/** How long small files are written before others get a turn. */
const turnMs = 4;
/** So many files are handed to the second copier together. */
const leavesAtOnce = 16;

export interface RestoreOptions {
  /** Names directly in the folder to leave alone, such as the mount point of the data. */
  ignore?: readonly string[];
  /** For people: leaves out what would make git and the like run programs, see `withoutRepositories`. */
  withoutRepositories?: boolean;
  /** A workspace that still has many of the contents: copying from it is faster than reading objects. */
  source?: RestoreSource | undefined;
  signal?: AbortSignal | undefined;
}

/** A workspace, and what was last seen in it. */
export interface RestoreSource {
  workspace: string;
  tree: FolderNode;
  /** Those of the snapshot, if they are known. */
  entries?: readonly SnapshotEntry[] | undefined;
}

export interface Restored {
  entries: readonly SnapshotEntry[];
  /** What was made; each file counts as racy. */
  tree: FolderNode;
  leftOut: string[];
}

type Leaf = [name: string, entry: Exclude<SnapshotEntry, { folder: true }>];
interface FolderPlan {
  folders: Map<string, FolderPlan>;
  leaves: Map<Leaf[0], Leaf[1]>;
}

/**
 * Makes a folder equal to a snapshot: contents, permissions, modification times, symbolic links, folders. Anything else
 * in it is removed. The folder is created if it is missing. An interrupted restore is incomplete; restoring again fixes
 * that.
 * @throws UserError `unsafe_snapshot`, and those of `ObjectStore.get`
 */
export async function restoreSnapshot(
  objects: ObjectStore,
  id: ObjectId,
  folder: string,
  options: RestoreOptions = {},
): Promise<Restored> {
  const { source } = options;
  const entries = source?.entries ?? readSnapshot(objects, id).entries;
  const { kept, leftOut } =
    options.withoutRepositories === true ? withoutRepositories(entries) : { kept: entries, leftOut: [] };
  const plan = planFolders(kept);
  mkdirSync(folder, { recursive: true });
  using root = FolderHandle.open(folder);
  const ignore = new Set(options.ignore);
  const present = root.names().filter((name) => !ignore.has(name));
  for (const name of present) if (!plan.folders.has(name)) await root.removeSlowly(name, options.signal);
  const turns = new Turns(options.signal);
  try {
    using handle = source === undefined ? null : openIfThere(source.workspace);
    const from = source === undefined || handle === null ? null : { handle, tree: source.tree };
    const tree = await fillFolder({ objects, turns }, root, plan, ignore, from);
    await turns.finish();
    return { entries, tree, leftOut };
  } finally {
    await turns.settle();
  }
}

interface Filling {
  objects: ObjectStore;
  turns: Turns;
}

/** A folder of the workspace from which contents are copied. */
interface SourceFolder {
  handle: FolderHandle;
  tree: FolderNode;
}

/** Small files are written synchronously; signals and other runs get a turn now and then. */
class Turns {
  readonly signal: AbortSignal | undefined;
  readonly #underWay = new Set<Promise<void>>();
  #failure: { error: unknown } | null = null;
  #began = performance.now();

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  get isOver(): boolean {
    return performance.now() - this.#began > turnMs;
  }

  async next(): Promise<void> {
    await ownTurn();
    this.signal?.throwIfAborted();
    this.#began = performance.now();
  }

  /** Starts work while the caller goes on; waits first if enough is under way. */
  async meanwhile(work: () => Promise<void>): Promise<void> {
    const done = work().catch((error: unknown) => {
      this.#failure ??= { error };
    });
    const counted = done.then(() => {
      this.#underWay.delete(counted);
    });
    this.#underWay.add(counted);
    if (this.#underWay.size >= mostMeanwhile) await Promise.race(this.#underWay);
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Waits for everything that was started; never rejects. */
  async settle(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  /** @throws the first error of the started work */
  async finish(): Promise<void> {
    await this.settle();
    if (this.#failure !== null) throw this.#failure.error;
  }
}

function planFolders(entries: readonly SnapshotEntry[]): FolderPlan {
  const root: FolderPlan = { folders: new Map(), leaves: new Map() };
  const byPath = new Map([['', root]]);
  // Shorter paths first, so that parents come before their contents.
  for (const entry of entries.toSorted((one, other) => one.path.length - other.path.length)) {
    const cut = entry.path.lastIndexOf('/');
    const parent = byPath.get(entry.path.slice(0, Math.max(cut, 0)));
    if (!parent) throw new Error(`a checked snapshot has no folder for ${entry.path}`);
    const name = entry.path.slice(cut + 1);
    if ('folder' in entry) {
      const folder: FolderPlan = { folders: new Map(), leaves: new Map() };
      parent.folders.set(name, folder);
      byPath.set(entry.path, folder);
    } else parent.leaves.set(name, entry);
  }
  return root;
}

async function fillFolder(
  filling: Filling,
  handle: FolderHandle,
  plan: FolderPlan,
  ignore: ReadonlySet<string>,
  source: SourceFolder | null,
): Promise<FolderNode> {
  const { turns } = filling;
  const made = newFolder();
  const leaves = [...plan.leaves].filter(([name]) => !ignore.has(name));
  for (let at = 0; at < leaves.length; at += leavesAtOnce) {
    const some = leaves.slice(at, at + leavesAtOnce);
    const isHandedOver = source !== null && (await copyMeanwhile(filling, handle, some, source, made));
    if (!isHandedOver) await writeLeaves(filling, handle, some, source, made);
  }
  for (const [name, inner] of plan.folders) {
    if (ignore.has(name)) continue;
    if (turns.isOver) await turns.next();
    using folder = await enterFolder(handle, name, turns);
    for (const present of folder.names()) {
      if (!inner.folders.has(present)) await folder.removeSlowly(present, turns.signal);
    }
    const below = openSourceFolder(source, name);
    try {
      made.children.set(name, await fillFolder(filling, folder, inner, new Set(), below));
    } finally {
      below?.handle[Symbol.dispose]();
    }
  }
  return made;
}

async function writeLeaves(
  filling: Filling,
  handle: FolderHandle,
  leaves: readonly Leaf[],
  source: SourceFolder | null,
  made: FolderNode,
): Promise<void> {
  const { turns } = filling;
  for (const [name, entry] of leaves) {
    if (turns.isOver) await turns.next();
    if ('link' in entry) makeLink(handle, name, entry.link, made);
    else await writeEntry(filling, handle, name, entry, source, made);
  }
}

/** Lets another thread copy files, if it is free and they are small and unchanged. Returns whether it does. */
async function copyMeanwhile(
  filling: Filling,
  handle: FolderHandle,
  leaves: readonly Leaf[],
  source: SourceFolder,
  made: FolderNode,
): Promise<boolean> {
  const files = leaves.flatMap(([name, entry]) => smallCopy(name, entry, source) ?? []);
  if (leaves.length < leavesAtOnce || files.length < leaves.length || !secondCopier.isFree) return false;
  const from = source.handle.openFolder('.');
  const to = handle.openFolder('.');
  await filling.turns.meanwhile(async () => {
    using _from = from;
    using _to = to;
    const copies = await secondCopier.copy({ from: String(from.at('.')), to: String(to.at('.')), files });
    for (const [index, { name, entry }] of files.entries()) {
      const copy = copies[index] ?? null;
      if (copy === null) await writeEntry(filling, to, name, entry, null, made);
      else made.children.set(name, copy);
    }
  });
  return true;
}

function smallCopy(name: string, entry: Leaf[1], source: SourceFolder): FileToCopy | null {
  const node = source.tree.children.get(name);
  if (!('object' in entry) || entry.size > memoryBytes || node?.kind !== 'file') return null;
  return node.object === entry.object && !node.racy ? { name, node, entry } : null;
}

function makeLink(folder: FolderHandle, name: string, target: string, made: FolderNode): void {
  folder.createLink(name, target);
  const stat = folder.stat(name);
  if (stat) made.children.set(name, { kind: 'link', stat: markOf(stat), target, racy: true, seen: 0 });
}

/** Null if the workspace was removed meanwhile. */
function openIfThere(workspace: string): FolderHandle | null {
  try {
    return FolderHandle.open(workspace);
  } catch (error) {
    if (isSwap(error)) return null;
    throw error;
  }
}

/** Null if it has gone, or is no longer a folder: contents then come from the store. */
function openSourceFolder(source: SourceFolder | null, name: string): SourceFolder | null {
  const tree = source?.tree.children.get(name);
  if (source === null || tree?.kind !== 'folder') return null;
  try {
    return { handle: source.handle.openFolder(name), tree };
  } catch (error) {
    if (isForbidden(error) || isSwap(error)) return null;
    throw error;
  }
}

/** Keeps an existing folder; anything else with that name is replaced by one. */
async function enterFolder(parent: FolderHandle, name: string, { signal }: Turns): Promise<FolderHandle> {
  if (!parent.stat(name)?.isDirectory()) {
    await parent.removeSlowly(name, signal);
    parent.createFolder(name);
  }
  return parent.openOwnFolder(name);
}

/** Small files are written at once; several large ones at a time, while others are made. */
async function writeEntry(
  { objects, turns }: Filling,
  folder: FolderHandle,
  name: string,
  entry: FileEntry,
  source: SourceFolder | null,
  made: FolderNode,
): Promise<void> {
  const small = source === null ? null : smallCopy(name, entry, source);
  const copy = source === null || small === null ? null : copyUnchanged(source.handle, folder, small);
  if (copy !== null) {
    made.children.set(name, copy);
    return;
  }
  using opened = new DisposableStack();
  const target = opened.adopt(folder.createFile(name), closeSync);
  if (entry.size <= memoryBytes) {
    writeSmall(objects, entry, target);
    made.children.set(name, finishFile(target, entry));
    return;
  }
  const node = source?.tree.children.get(name);
  const same = node?.kind === 'file' && node.object === entry.object ? node : null;
  const original = source === null || same === null ? null : openUnchanged(source.handle, name, same);
  if (original !== null) opened.adopt(original, closeSync);
  const files = opened.move();
  await turns.meanwhile(async () => {
    using _ = files;
    if (original === null || same === null || !(await copyLarge(original, same, target)))
      await writeContent(objects, entry, target, turns.signal);
    made.children.set(name, finishFile(target, entry));
  });
}
