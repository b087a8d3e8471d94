import { closeSync, fchmodSync, ftruncateSync, futimesSync, mkdirSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { UserError } from '../lib/errors.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import type { ObjectId, SnapshotEntry } from '../schema/index.ts';
import type { ObjectStore } from './object-store.ts';
import { withoutRepositories } from './repositories.ts';
import { readSnapshot } from './snapshot-file.ts';

const inlineBytes = 2 ** 20;
const entriesPerTurn = 200;
const zeros = Buffer.alloc(2 ** 14);

export interface RestoreOptions {
  /** Names directly in the folder that are left alone, such as the mount point of the data. */
  ignore?: readonly string[];
  /** Refuses a folder that holds anything (beside what is ignored), instead of removing it. */
  onlyIntoEmpty?: boolean;
  /** For people: leaves out what would make git and the like run programs, see `withoutRepositories`. */
  withoutRepositories?: boolean;
  signal?: AbortSignal | undefined;
}

type FileEntry = Extract<SnapshotEntry, { object: unknown }>;
interface FolderPlan {
  folders: Map<string, FolderPlan>;
  leaves: Map<string, Exclude<SnapshotEntry, { folder: true }>>;
}

/**
 * Makes a folder hold what a snapshot holds: contents, permissions, times of change, symbolic links, folders;
 * what is not in the snapshot is removed. The folder is made when it is missing. Breaking off leaves a part;
 * restoring again fixes that.
 * @returns what was left out
 * @throws UserError `unsafe_snapshot`, `not_empty`, and those of `ObjectStore.get`
 */
export async function restoreSnapshot(
  objects: ObjectStore,
  id: ObjectId,
  folder: string,
  options: RestoreOptions = {},
): Promise<{ leftOut: string[] }> {
  const { entries } = readSnapshot(objects, id);
  const { kept, leftOut } =
    options.withoutRepositories === true ? withoutRepositories(entries) : { kept: entries, leftOut: [] };
  const plan = planFolders(kept);
  mkdirSync(folder, { recursive: true });
  using root = FolderHandle.open(folder);
  const ignore = new Set(options.ignore);
  const present = root.names().filter((name) => !ignore.has(name));
  if (options.onlyIntoEmpty && present.length > 0) throw notEmpty(folder);
  for (const name of present) if (!plan.folders.has(name)) await root.removeSlowly(name, options.signal);
  await fillFolder(objects, root, plan, ignore, new Turns(options.signal));
  return { leftOut };
}

/** Small files are written without waiting for anything: signals and other runs get their turn now and then. */
class Turns {
  readonly signal: AbortSignal | undefined;
  #entries = 0;

  constructor(signal: AbortSignal | undefined) {
    this.signal = signal;
  }

  async next(): Promise<void> {
    this.signal?.throwIfAborted();
    this.#entries += 1;
    if (this.#entries % entriesPerTurn === 0) await setImmediate();
  }
}

function planFolders(entries: readonly SnapshotEntry[]): FolderPlan {
  const root: FolderPlan = { folders: new Map(), leaves: new Map() };
  const byPath = new Map([['', root]]);
  // Parents come first: their paths are shorter.
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
  objects: ObjectStore,
  handle: FolderHandle,
  plan: FolderPlan,
  ignore: ReadonlySet<string>,
  turns: Turns,
): Promise<void> {
  for (const [name, entry] of plan.leaves) {
    if (ignore.has(name)) continue;
    await turns.next();
    if ('link' in entry) handle.createLink(name, entry.link);
    else await writeEntry(objects, handle, name, entry, turns);
  }
  for (const [name, inner] of plan.folders) {
    if (ignore.has(name)) continue;
    await turns.next();
    using folder = await enterFolder(handle, name, turns);
    for (const present of folder.names()) {
      if (!inner.folders.has(present)) await folder.removeSlowly(present, turns.signal);
    }
    await fillFolder(objects, folder, inner, new Set(), turns);
  }
}

/** A folder that is there is kept; anything else of that name makes room for one. */
async function enterFolder(parent: FolderHandle, name: string, { signal }: Turns): Promise<FolderHandle> {
  if (!parent.stat(name)?.isDirectory()) {
    await parent.removeSlowly(name, signal);
    parent.createFolder(name);
  }
  return parent.openOwnFolder(name);
}

async function writeEntry(
  objects: ObjectStore,
  folder: FolderHandle,
  name: string,
  entry: FileEntry,
  { signal }: Turns,
): Promise<void> {
  const descriptor = folder.createFile(name);
  try {
    let position = 0;
    for await (const chunk of contentOf(objects, entry)) {
      signal?.throwIfAborted();
      writePiece(descriptor, chunk, position);
      position += chunk.length;
    }
    ftruncateSync(descriptor, position);
    fchmodSync(descriptor, entry.mode & 0o777);
    futimesSync(descriptor, entry.mtime / 1000, entry.mtime / 1000);
  } finally {
    closeSync(descriptor);
  }
}

async function* contentOf(objects: ObjectStore, entry: FileEntry): AsyncGenerator<Buffer> {
  if (entry.size <= inlineBytes) yield objects.get(entry.object);
  else for await (const chunk of objects.openReadStream(entry.object)) yield chunk as Buffer;
}

/** Pieces of zeros are left out, so that a sparse file comes back sparse. */
function writePiece(descriptor: number, chunk: Buffer, start: number): void {
  for (let at = 0; at < chunk.length; at += zeros.length) {
    const piece = chunk.subarray(at, at + zeros.length);
    if (piece.equals(zeros.subarray(0, piece.length))) continue;
    for (let done = 0; done < piece.length; ) {
      done += writeSync(descriptor, piece, done, piece.length - done, start + at + done);
    }
  }
}

function notEmpty(folder: string): UserError {
  return new UserError('not_empty', `${folder} is not empty`, 'Give a new or an empty folder.');
}
