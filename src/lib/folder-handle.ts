import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  opendirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { hasCode } from './errors.ts';
import { inheritFolderOwner, inheritLinkOwner, inheritOwner } from './inherit-owner.ts';
import { ownTurn } from './own-turn.ts';
import { decodeName, encodePath } from './path-text.ts';

const openFolderFlags = constants.O_RDONLY | constants.O_DIRECTORY;
/** Linux's O_PATH: a handle on a folder that may be neither readable nor searchable. */
const pathOnly = 0x200000;
const replacementCharacter = '\ufffd';
const namesAtOnce = 256;
/** How long a large folder is removed before others get a turn. */
const turnMs = 4;

export interface FolderEntry {
  name: string;
  kind: 'folder' | 'link' | 'file' | 'special';
}

/**
 * An open folder, and its entries by name. On Linux every access goes through the open descriptor
 * (`/proc/self/fd/N/name`), so that renaming folders or replacing them by symbolic links meanwhile can't redirect it.
 * On other systems plain paths are used, without that guarantee.
 */
export class FolderHandle implements Disposable {
  readonly #descriptor: number;
  readonly #base: string;

  private constructor(descriptor: number, path: string | null) {
    this.#descriptor = descriptor;
    this.#base = path === null ? `/proc/self/fd/${descriptor}/` : `${path}/`;
  }

  /** Opens a folder by its path; the path is trusted. */
  static open(path: string): FolderHandle {
    return new FolderHandle(openSync(path, openFolderFlags), hasDescriptorPaths() ? null : path);
  }

  /** Opens a folder in this one, never through a symbolic link. Fails with `ENOTDIR` or `ELOOP` for anything else. */
  openFolder(name: string): FolderHandle {
    const path = this.at(name);
    const descriptor = openSync(path, openFolderFlags | constants.O_NOFOLLOW);
    return new FolderHandle(descriptor, this.#base.startsWith('/proc/self/fd/') ? null : String(path));
  }

  /** As `openFolder`, for a folder that will be changed: its owner gets all permissions first. */
  openOwnFolder(name: string): FolderHandle {
    const mode = (this.stat(name)?.mode ?? 0) & 0o700;
    if (mode !== 0o700) this.#openToOwner(name);
    return this.openFolder(name);
  }

  /** The path by which file functions reach an entry. */
  at(name: string): string | Buffer {
    if (name.isWellFormed()) return this.#base + name;
    const bytes = encodePath(name);
    if (bytes === null) throw new Error(`no file can have the name ${JSON.stringify(name)}`);
    return Buffer.concat([Buffer.from(this.#base), Buffer.from(bytes)]);
  }

  names(): string[] {
    const names = readdirSync(this.#base);
    // Node shows bytes that are not UTF-8 as U+FFFD; only then is the slower way needed.
    if (!names.some((name) => name.includes(replacementCharacter))) return names;
    return readdirSync(this.#base, { encoding: 'buffer' }).map(decodeName);
  }

  entries(): FolderEntry[] {
    return readdirSync(this.#base, { encoding: 'buffer', withFileTypes: true }).map((entry) => ({
      name: decodeName(entry.name),
      kind: entry.isDirectory()
        ? 'folder'
        : entry.isSymbolicLink()
          ? 'link'
          : entry.isFile()
            ? 'file'
            : 'special',
    }));
  }

  /** As `names`, a few hundred at a time: for folders with any number of entries. */
  *eachName(): Generator<string> {
    // In Latin-1 every byte is one character.
    const folder = opendirSync(this.#base, { encoding: 'latin1', bufferSize: namesAtOnce });
    try {
      for (let entry = folder.readSync(); entry !== null; entry = folder.readSync()) {
        yield decodeName(Buffer.from(entry.name, 'latin1'));
      }
    } finally {
      folder.closeSync();
    }
  }

  /** The stat of an entry, without following it; undefined if it is gone. */
  stat(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  readLink(name: string): string {
    return decodeName(readlinkSync(this.at(name), { encoding: 'buffer' }));
  }

  /** Opens a file for reading: never through a symbolic link, and without waiting for a FIFO's other end. */
  openFile(name: string): number {
    return openSync(
      this.at(name),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
  }

  /** Creates a file for writing, with this folder's owner; fails with `EEXIST` if the name is taken. */
  createFile(name: string): number {
    const descriptor = openSync(
      this.at(name),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
    this.giveToOwner(descriptor);
    return descriptor;
  }

  /** Gives a file that root has just made in this folder, by its descriptor, to the folder's owner. */
  giveToOwner(file: number): void {
    inheritOwner(this.#descriptor, file);
  }

  createFolder(name: string): void {
    mkdirSync(this.at(name));
    inheritFolderOwner(this.#descriptor, this.at(name));
  }

  createLink(name: string, target: string): void {
    const bytes = encodePath(target);
    if (bytes === null) throw new Error(`no link can have the target ${JSON.stringify(target)}`);
    symlinkSync(bytes, this.at(name));
    inheritLinkOwner(this.#descriptor, this.at(name));
  }

  /** Removes whatever has that name, a folder with all its contents, however deep. */
  remove(name: string): void {
    for (const _ of this.#removal(name));
  }

  /** As `remove`, and gives others a turn now and then. An interrupted removal leaves a part. */
  async removeSlowly(name: string, signal?: AbortSignal): Promise<void> {
    let began = performance.now();
    for (const _ of this.#removal(name)) {
      if (performance.now() - began < turnMs) continue;
      await ownTurn();
      signal?.throwIfAborted();
      began = performance.now();
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  /**
   * Nested folders are first moved up to the outermost one, so that two open folders suffice for any depth. Yields
   * after every entry.
   */
  *#removal(name: string): Generator<void> {
    if (!this.#isFolder(name)) return this.#unlink(name);
    {
      using outermost = this.openOwnFolder(name);
      const moved = { prefix: `mlab-removed-${randomBytes(8).toString('hex')}-`, count: 0 };
      for (let names = outermost.names(); names.length > 0; names = outermost.names()) {
        for (const inner of names) {
          yield;
          if (!outermost.#isFolder(inner)) outermost.#unlink(inner);
          else yield* outermost.#emptied(inner, moved);
        }
      }
    }
    rmdirSync(this.at(name));
  }

  /** Empties a folder in this one and removes it, moving the folders that it contains here. */
  *#emptied(name: string, moved: { prefix: string; count: number }): Generator<void> {
    let found = 0;
    {
      using folder = this.openOwnFolder(name);
      for (const inner of folder.eachName()) {
        yield;
        found += 1;
        if (!folder.#isFolder(inner)) folder.#unlink(inner);
        else {
          // A folder without write permission can't be moved.
          folder.#openToOwner(inner);
          renameSync(folder.at(inner), this.at(`${moved.prefix}${moved.count}`));
          moved.count += 1;
        }
      }
    }
    try {
      rmdirSync(this.at(name));
    } catch (error) {
      // Somebody still adds to it, or not every name was listed: try again.
      if (!hasCode(error, 'ENOTEMPTY') || found === 0) throw error;
    }
  }

  #isFolder(name: string): boolean {
    return this.stat(name)?.isDirectory() === true;
  }

  #unlink(name: string): void {
    try {
      unlinkSync(this.at(name));
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
    }
  }

  /** Never follows a link that replaced the folder: the opened folder is the one that is changed. */
  #openToOwner(name: string): void {
    if (!this.#base.startsWith('/proc/self/fd/')) {
      chmodSync(this.at(name), 0o755);
      return;
    }
    const place = openSync(this.at(name), pathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    try {
      chmodSync(`/proc/self/fd/${place}`, 0o755);
    } finally {
      closeSync(place);
    }
  }
}

/**
 * Opens a folder beneath another one, one part of the path after the other.
 * @throws whatever `FolderHandle.openFolder` throws
 */
export function openBeneath(root: string, folders: readonly string[]): FolderHandle {
  let handle = FolderHandle.open(root);
  for (const name of folders) {
    using parent = handle;
    handle = parent.openFolder(name);
  }
  return handle;
}

/** Removes what is at a path, in the form of snapshots, beneath a folder; no link is followed. */
export function removeBeneath(root: string, path: string): void {
  const folders = path.split('/');
  const name = folders.pop() ?? '';
  using folder = openBeneath(root, folders);
  folder.remove(name);
}

let descriptorPaths: boolean | undefined;

function hasDescriptorPaths(): boolean {
  descriptorPaths ??= process.platform === 'linux' && existsSync('/proc/self/fd');
  return descriptorPaths;
}
