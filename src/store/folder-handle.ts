import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { decodeName, encodePath } from './path-text.ts';

const openFolderFlags = constants.O_RDONLY | constants.O_DIRECTORY;
const replacementCharacter = '\ufffd';

/**
 * An open folder, and what lies directly in it by name. On Linux every access goes through the open descriptor
 * (`/proc/self/fd/N/name`), so that nobody who renames folders or swaps them for symbolic links meanwhile can
 * lead it elsewhere. On other systems plain paths are used, and that promise does not hold.
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

  /**
   * Opens a folder in this one, never through a symbolic link.
   * Fails with `ENOTDIR` or `ELOOP` where something else lies there.
   */
  openFolder(name: string): FolderHandle {
    const path = this.at(name);
    const descriptor = openSync(path, openFolderFlags | constants.O_NOFOLLOW);
    return new FolderHandle(descriptor, this.#base.startsWith('/proc/self/fd/') ? null : String(path));
  }

  /** As `openFolder`, of a folder that is to be changed: its owner gets all permissions first. */
  openOwnFolder(name: string): FolderHandle {
    const mode = (this.stat(name)?.mode ?? 0) & 0o700;
    if (mode !== 0o700) chmodSync(this.at(name), 0o755);
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
    // Node shows bytes that are not UTF-8 as U+FFFD; only then the slower way is worth it.
    if (!names.some((name) => name.includes(replacementCharacter))) return names;
    return readdirSync(this.#base, { encoding: 'buffer' }).map(decodeName);
  }

  /** What an entry is, without following it; undefined when it is gone. */
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

  /** Creates a file for writing; fails with `EEXIST` when anything has that name. */
  createFile(name: string): number {
    return openSync(
      this.at(name),
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
      0o600,
    );
  }

  createFolder(name: string): void {
    mkdirSync(this.at(name));
  }

  createLink(name: string, target: string): void {
    const bytes = encodePath(target);
    if (bytes === null) throw new Error(`no link can have the target ${JSON.stringify(target)}`);
    symlinkSync(bytes, this.at(name));
  }

  /** Removes whatever has that name, a folder with all that is in it. */
  remove(name: string): void {
    const state = this.stat(name);
    if (!state) return;
    if (state.isDirectory()) this.#removeFolder(name);
    else unlinkSync(this.at(name));
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }

  #removeFolder(name: string): void {
    {
      using folder = this.openOwnFolder(name);
      for (const inner of folder.names()) folder.remove(inner);
    }
    rmdirSync(this.at(name));
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

function hasDescriptorPaths(): boolean {
  return process.platform === 'linux' && existsSync('/proc/self/fd');
}
