import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  readdirSync,
  readSync,
  realpathSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { messageOf } from '../lib/errors.ts';
import type { FolderEntry, FolderHandle } from '../lib/folder-handle.ts';
import { showPath } from '../lib/path-text.ts';
import { explained, openChain, openLast } from './open-beneath.ts';
import { type Located, locate, PathFailed, PathRefused, type WorkspaceRoots } from './workspace-path.ts';

const { O_RDONLY, O_WRONLY, O_CREAT } = constants;

/** Writing failed after the file was opened: its earlier content is lost. */
export class WriteBroken extends PathFailed {
  override readonly name = 'WriteBroken';
}

/** The workspace has no space left for this. */
export class WorkspaceFull extends Error {
  override readonly name = 'WorkspaceFull';
}

export interface WorkspaceFilesOptions extends WorkspaceRoots {
  /** How many bytes the workspace may still grow. */
  bytesLeft: () => number;
  /** Called before anything is changed. */
  onChange?: () => void;
}

/**
 * A workspace's files, which the harness reads and writes for an agent. Hostile code may run in the workspace at the
 * same time. So a path is checked after its links were followed, and then opened folder by folder without following any
 * link: what is checked is what is opened.
 */
export class WorkspaceFiles {
  readonly #roots: WorkspaceRoots;
  readonly #bytesLeft: () => number;
  readonly #onChange: () => void;

  constructor(options: WorkspaceFilesOptions) {
    const { workspace, readOnly, isReadOnly, bytesLeft, onChange = () => {} } = options;
    const real = Object.entries(readOnly).map(([name, folder]) => [name, realpathSync(folder)]);
    this.#roots = { workspace: realpathSync(workspace), readOnly: Object.fromEntries(real), isReadOnly };
    this.#bytesLeft = bytesLeft;
    this.#onChange = onChange;
  }

  /** At most `maxBytes` from the head, and as many from the tail if the file is larger than both. */
  read(path: string, maxBytes: number): { head: Buffer; tail: Buffer; size: number } {
    return this.#withFile(this.#locate(path), path, O_RDONLY, (file) => {
      const { size } = fstatSync(file);
      if (size <= 2 * maxBytes) return { head: readRange(file, 0, size), tail: Buffer.alloc(0), size };
      return {
        head: readRange(file, 0, maxBytes),
        tail: readRange(file, size - maxBytes, maxBytes),
        size,
      };
    });
  }

  /** The whole file. Throws `PathFailed` if it is larger than `maxBytes`. */
  readWhole(path: string, maxBytes: number): Buffer {
    return this.#withFile(this.#locate(path), path, O_RDONLY, (file) => {
      const { size } = fstatSync(file);
      if (size > maxBytes) throw new PathFailed(`${path} is too large for this action (${size} bytes).`);
      return readRange(file, 0, size);
    });
  }

  /**
   * Writes or appends, and creates missing folders.
   * @throws PathRefused, PathFailed, WorkspaceFull if nothing was changed; WriteBroken if something may have been
   */
  write(path: string, content: Uint8Array, how: 'replace' | 'append'): void {
    const located = this.#locate(path);
    this.#refuseReadOnly(located, path);
    if (located.parts.length === 0) throw new PathFailed(`${path} is a folder, not a file.`);
    this.#refuseGrowth(path, content.length, how);
    this.#onChange();
    this.#withFile(located, path, O_WRONLY | O_CREAT, (file) => {
      try {
        writeAt(file, content, how === 'replace' ? 0 : fstatSync(file).size);
        // Afterwards: some file systems write a file to the disk at once if it was emptied first.
        if (how === 'replace') ftruncateSync(file, content.length);
      } catch (error) {
        throw new WriteBroken(`${path} could not be written whole: ${messageOf(error)}`, { cause: error });
      }
    });
  }

  /**
   * Checks beforehand, as far as possible, whether `write` could write there; changes nothing.
   * @throws PathRefused, PathFailed
   */
  checkWritable(path: string): void {
    const located = this.#locate(path);
    this.#refuseReadOnly(located, path);
    if (this.kindOf(path) !== null) {
      this.#withFile(located, path, O_WRONLY, () => {});
      return;
    }
    for (const [index] of located.parts.entries()) {
      const parent = located.parts.slice(0, index).join('/');
      const kind = this.kindOf(parent);
      if (kind === null) return;
      if (kind !== 'folder') throw new PathFailed(`${path} can't be written: ${parent} is not a folder.`);
    }
  }

  /** Removes a file. */
  remove(path: string): void {
    const located = this.#locate(path);
    this.#refuseReadOnly(located, path);
    this.#onChange();
    this.#withParent(located, path, false, (child) => {
      try {
        unlinkSync(child);
      } catch (error) {
        throw explained(error, path);
      }
    });
  }

  /** Names in a folder, sorted, with `/` after folders and `@` after links. */
  list(path: string): string[] {
    const located = this.#locate(path);
    using folder = openChain(located.root, located.parts, false, path);
    const names = new Set(
      folder
        .entries()
        .filter((entry) => !this.#isRoot(located, entry))
        .map(marked),
    );
    if (located.path === '') this.#addReadOnlyRoots(names);
    return [...names].sort();
  }

  /** The path without links, relative to the workspace; empty for the workspace itself. */
  pathOf(path: string): string {
    return this.#locate(path).path;
  }

  /** The kind of what is there, links followed; null if nothing is. */
  kindOf(path: string): 'file' | 'folder' | 'other' | null {
    const stat = this.#stat(path);
    if (stat === null) return null;
    if (stat.isFile()) return 'file';
    return stat.isDirectory() ? 'folder' : 'other';
  }

  #stat(path: string): Stats | null {
    const located = this.#locate(path);
    if (located.parts.length === 0) return lstatSync(located.root);
    try {
      return this.#withParent(located, path, false, (child) => {
        return lstatSync(child, { throwIfNoEntry: false }) ?? null;
      });
    } catch (error) {
      if (error instanceof PathFailed) return null;
      throw explained(error, path);
    }
  }

  /** They are mounted over the workspace, which itself contains at most their mount points. */
  #isRoot(located: Located, entry: FolderEntry): boolean {
    return located.path === '' && Object.hasOwn(this.#roots.readOnly, entry.name);
  }

  /** Empty ones are left out. */
  #addReadOnlyRoots(names: Set<string>): void {
    for (const [name, folder] of Object.entries(this.#roots.readOnly)) {
      if (readdirSync(folder).length > 0) names.add(`${name}/`);
    }
  }

  #locate(path: string): Located {
    return locate(this.#roots, path);
  }

  #refuseReadOnly(located: Located, path: string): void {
    if (!located.writable)
      throw new PathRefused(`${path} is read-only: it can be read and copied, not written.`);
  }

  #refuseGrowth(path: string, bytes: number, how: 'replace' | 'append'): void {
    const before = how === 'replace' ? (this.#stat(path)?.size ?? 0) : 0;
    const room = Math.max(0, this.#bytesLeft());
    if (bytes - before <= room || bytes === 0) return;
    throw new WorkspaceFull(
      `${path} was not written: the workspace may grow by ${room} bytes only. Remove files before going on.`,
    );
  }

  #withFile<Result>(located: Located, shown: string, flags: number, use: (file: number) => Result): Result {
    const create = (flags & O_CREAT) !== 0;
    return this.#withParent(located, shown, create, (child, parent) => {
      const file = openLast(child, flags, shown);
      try {
        if (!fstatSync(file).isFile()) throw new PathFailed(`${shown} is not a file.`);
        if (create) parent.giveToOwner(file);
        return use(file);
      } finally {
        closeSync(file);
      }
    });
  }

  #withParent<Result>(
    located: Located,
    shown: string,
    create: boolean,
    use: (child: string | Buffer, parent: FolderHandle) => Result,
  ): Result {
    const name = located.parts.at(-1);
    if (name === undefined) throw new PathFailed(`${shown} is a folder, not a file.`);
    using folder = openChain(located.root, located.parts.slice(0, -1), create, shown);
    return use(folder.at(name), folder);
  }
}

/**
 * Names that are not valid text, or contain a line break, are shown as JSON; agents may also give them in this form.
 */
function marked({ name, kind }: FolderEntry): string {
  const shown = showPath(name);
  return kind === 'folder' ? `${shown}/` : kind === 'link' ? `${shown}@` : shown;
}

function readRange(file: number, start: number, length: number): Buffer {
  const content = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(file, content, done, length - done, start + done);
    if (count === 0) break;
    done += count;
  }
  return content.subarray(0, done);
}

function writeAt(file: number, content: Uint8Array, start: number): void {
  let done = 0;
  while (done < content.length) done += writeSync(file, content, done, content.length - done, start + done);
}
