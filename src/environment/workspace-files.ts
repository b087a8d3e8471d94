import {
  closeSync,
  constants,
  type Dirent,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  realpathSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../lib/errors.ts';

/** Where agents see their workspace. */
export const workspaceInside = '/workspace';

const mostLinks = 40;
const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

/** Why a path was not opened, in words for the agent. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused';
}

/** The path is fine and nothing usable lies there, in words for the agent. */
export class PathFailed extends Error {
  override readonly name = 'PathFailed';
}

/** A path after all its links were followed: parts below one of the roots. */
interface Located {
  /** Relative to the workspace, without links, `.` or `..`; empty for the workspace itself. */
  path: string;
  root: string;
  parts: string[];
  writable: boolean;
}

export interface WorkspaceRoots {
  /** Host folder of the workspace. */
  workspace: string;
  /** Read-only host folders by their name in the workspace. */
  readOnly: Readonly<Record<string, string>>;
  /** Whether the agent may change this file (a path relative to the workspace). */
  isReadOnly: (path: string) => boolean;
}

/**
 * The files of a workspace as the harness reads and writes them for an agent. Hostile code may run in the workspace
 * at the same time, so a path is judged after its links were followed, and then opened folder by folder without
 * following any link: what is judged is what is opened.
 */
export class WorkspaceFiles {
  readonly #roots: WorkspaceRoots;

  constructor(roots: WorkspaceRoots) {
    this.#roots = { ...roots, workspace: realpathSync(roots.workspace) };
  }

  /** At most `maxBytes` from the head and as many from the tail where the file is larger than both. */
  read(path: string, maxBytes: number): { head: Buffer; tail: Buffer; size: number } {
    return this.#withFile(this.#locate(path), O_RDONLY, (file) => {
      const { size } = fstatSync(file);
      if (size <= 2 * maxBytes) return { head: readRange(file, 0, size), tail: Buffer.alloc(0), size };
      return {
        head: readRange(file, 0, maxBytes),
        tail: readRange(file, size - maxBytes, maxBytes),
        size,
      };
    });
  }

  /** The whole file. Throws `PathFailed` when it is larger than `maxBytes`. */
  readWhole(path: string, maxBytes: number): Buffer {
    return this.#withFile(this.#locate(path), O_RDONLY, (file) => {
      const { size } = fstatSync(file);
      if (size > maxBytes) throw new PathFailed(`${path} is too large for this action (${size} bytes).`);
      return readRange(file, 0, size);
    });
  }

  /** Writes or appends, making folders on the way. Returns the path without links. */
  write(path: string, content: Uint8Array, how: 'replace' | 'append'): string {
    const located = this.#locate(path);
    this.#refuseReadOnly(located, path);
    if (located.parts.length === 0) throw new PathFailed(`${path} is a folder, not a file.`);
    this.#withFile(located, O_WRONLY | O_CREAT, (file) => {
      if (how === 'replace') ftruncateSync(file, 0);
      const start = how === 'replace' ? 0 : fstatSync(file).size;
      let done = 0;
      while (done < content.length)
        done += writeSync(file, content, done, content.length - done, start + done);
    });
    return located.path;
  }

  /** Removes a file. Returns the path without links. */
  remove(path: string): string {
    const located = this.#locate(path);
    this.#refuseReadOnly(located, path);
    this.#withFolder(located, false, (_, child) => unlinkSync(child));
    return located.path;
  }

  /** Names in a folder, sorted, with `/` after folders and `@` after links. */
  list(path: string): string[] {
    const located = this.#locate(path);
    const folder = openChain(located.root, located.parts, false);
    try {
      const entries = readdirSync(folder.path, { withFileTypes: true });
      const names = new Set(entries.map((entry) => entry.name + mark(entry)));
      if (located.path === '') this.#addReadOnlyRoots(names);
      return [...names].sort();
    } finally {
      closeSync(folder.descriptor);
    }
  }

  /** They are mounted over the workspace, so the workspace's own folder does not hold them; empty ones are left out. */
  #addReadOnlyRoots(names: Set<string>): void {
    for (const [name, folder] of Object.entries(this.#roots.readOnly)) {
      if (readdirSync(folder).length > 0) names.add(`${name}/`);
      else names.delete(`${name}/`);
    }
  }

  /** The path without links, relative to the workspace. */
  pathOf(path: string): string {
    return this.#locate(path).path;
  }

  exists(path: string): boolean {
    const located = this.#locate(path);
    try {
      lstatSync(join(located.root, ...located.parts));
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')) return false;
      throw error;
    }
  }

  #refuseReadOnly(located: Located, path: string): void {
    if (!located.writable)
      throw new PathRefused(`${path} is read-only: it can be read and copied, not written.`);
  }

  #locate(path: string): Located {
    if (path.includes('\0')) throw new PathRefused('A path may not hold a NUL character.');
    const todo = this.#split(path, path);
    let stack: string[] = [];
    let links = 0;
    for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
      if (part === '' || part === '.') continue;
      if (part === '..') {
        if (stack.pop() === undefined) throw outside(path);
        continue;
      }
      const link = this.#linkAt([...stack, part]);
      if (link === null) {
        stack.push(part);
        continue;
      }
      links += 1;
      if (links > mostLinks) throw new PathRefused(`${path} goes through too many links.`);
      if (link.startsWith('/')) stack = [];
      todo.unshift(...this.#split(link, path));
    }
    return this.#place(stack);
  }

  #split(path: string, asked: string): string[] {
    if (!path.startsWith('/')) return path.split('/');
    if (path === workspaceInside || path.startsWith(`${workspaceInside}/`)) {
      return path.slice(workspaceInside.length).split('/');
    }
    throw outside(asked);
  }

  #linkAt(parts: string[]): string | null {
    const { root, parts: below } = this.#place(parts);
    try {
      return readlinkSync(join(root, ...below));
    } catch {
      return null;
    }
  }

  #place(parts: string[]): Located {
    const path = parts.join('/');
    const [first, ...rest] = parts;
    const fixed = first === undefined ? undefined : ownValue(this.#roots.readOnly, first);
    if (fixed !== undefined) return { path, root: fixed, parts: rest, writable: false };
    return { path, root: this.#roots.workspace, parts, writable: !this.#roots.isReadOnly(path) };
  }

  #withFile<Result>(located: Located, flags: number, use: (file: number) => Result): Result {
    return this.#withFolder(located, (flags & O_CREAT) !== 0, (name, child) => {
      const file = openLast(child, flags, name);
      try {
        if (!fstatSync(file).isFile()) throw new PathFailed(`${located.path || '.'} is not a file.`);
        return use(file);
      } finally {
        closeSync(file);
      }
    });
  }

  #withFolder<Result>(
    located: Located,
    create: boolean,
    use: (name: string, child: string) => Result,
  ): Result {
    const name = located.parts.at(-1);
    if (name === undefined) throw new PathFailed(`${located.path || '.'} is a folder, not a file.`);
    const folder = openChain(located.root, located.parts.slice(0, -1), create);
    try {
      return use(name, join(folder.path, name));
    } finally {
      closeSync(folder.descriptor);
    }
  }
}

function ownValue(record: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function outside(path: string): PathRefused {
  return new PathRefused(`${path} leads out of the workspace. Use paths relative to the workspace.`);
}

function mark(entry: Dirent): string {
  if (entry.isDirectory()) return '/';
  return entry.isSymbolicLink() ? '@' : '';
}

/** Opens folder after folder, each relative to the one before and none through a link. The caller closes it. */
function openChain(root: string, parts: string[], create: boolean): { descriptor: number; path: string } {
  let folder = { descriptor: openSync(root, O_RDONLY | O_DIRECTORY), path: root };
  folder.path = pathOfDescriptor(folder.descriptor, root);
  for (const part of parts) {
    const child = join(folder.path, part);
    try {
      const descriptor = openFolder(child, create, part);
      closeSync(folder.descriptor);
      folder = { descriptor, path: pathOfDescriptor(descriptor, child) };
    } catch (error) {
      closeSync(folder.descriptor);
      throw error;
    }
  }
  return folder;
}

/** On Linux a path that stays with the opened folder, whatever becomes of its name. */
function pathOfDescriptor(descriptor: number, path: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path;
}

function openFolder(path: string, create: boolean, name: string): number {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return openSync(path, flags);
  } catch (error) {
    if (!create || !hasCode(error, 'ENOENT')) throw explained(error, name);
  }
  try {
    mkdirSync(path);
    return openSync(path, flags);
  } catch (error) {
    throw explained(error, name);
  }
}

function openLast(path: string, flags: number, name: string): number {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    throw explained(error, name);
  }
}

function explained(error: unknown, name: string): unknown {
  if (hasCode(error, 'ENOENT'))
    return new PathFailed(`${name} does not exist. List Files shows what is there.`);
  if (hasCode(error, 'ENOTDIR')) return new PathFailed(`${name} is not a folder.`);
  if (hasCode(error, 'EISDIR')) return new PathFailed(`${name} is a folder, not a file.`);
  if (hasCode(error, 'ELOOP'))
    return new PathRefused(`${name} turned into a link while it was being opened.`);
  if (hasCode(error, 'ENXIO')) return new PathFailed(`${name} is not a file.`);
  if (hasCode(error, 'EACCES') || hasCode(error, 'EPERM'))
    return new PathFailed(`${name}: permission denied.`);
  if (hasCode(error, 'ENAMETOOLONG')) return new PathFailed('The name is too long.');
  return error;
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
