import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { decodeName, encodePath } from '../lib/path-text.ts';

/** The path of the workspace as agents see it. */
export const workspaceInside = '/workspace';

const maxLinks = 40;
/** Linux accepts 4,095 bytes; on the host the path of the workspace comes first. */
const maxPathBytes = 3_000;

/** Why a path was not opened, in words for the agent. */
export class PathRefused extends Error {
  override readonly name = 'PathRefused';
}

/** The path is valid, but nothing usable is there, in words for the agent. */
export class PathFailed extends Error {
  override readonly name: string = 'PathFailed';
}

/** A path after all its links were followed: parts below one of the roots. */
export interface Located {
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
 * Follows a path link by link, as the agent's own processes would.
 * @throws PathRefused if it leads out of the workspace at any point, or through too many links
 * @throws PathFailed if it is longer than the system accepts
 */
export function locate(roots: WorkspaceRoots, path: string): Located {
  if (path.includes('\0')) throw new PathRefused('A path may not hold a NUL character.');
  if (encodePath(path) === null) throw new PathFailed('No file can have this name.');
  if (Buffer.byteLength(path) > maxPathBytes) {
    throw new PathFailed(`The path is too long: it may have at most ${maxPathBytes} bytes.`);
  }
  const todo = split(path, path);
  let stack: string[] = [];
  let links = 0;
  for (let part = todo.shift(); part !== undefined; part = todo.shift()) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (stack.pop() === undefined) throw outside(path);
      continue;
    }
    const link = linkAt(roots, [...stack, part]);
    if (link === null) {
      stack.push(part);
      continue;
    }
    links += 1;
    if (links > maxLinks) throw new PathRefused(`${path} goes through too many links.`);
    if (link.startsWith('/')) stack = [];
    todo.unshift(...split(link, path));
  }
  return place(roots, stack);
}

function split(path: string, asked: string): string[] {
  if (!path.startsWith('/')) return path.split('/');
  if (path === workspaceInside || path.startsWith(`${workspaceInside}/`)) {
    return path.slice(workspaceInside.length).split('/');
  }
  throw outside(asked);
}

function linkAt(roots: WorkspaceRoots, parts: string[]): string | null {
  const { root, parts: below } = place(roots, parts);
  // A root stays as it is: links to it on the host are not the agent's.
  if (below.length === 0) return null;
  try {
    const path = encodePath(join(root, ...below));
    // Most paths are not links, and an lstat is faster than a failing readlink.
    if (path === null || lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() !== true) return null;
    return decodeName(readlinkSync(path, { encoding: 'buffer' }));
  } catch {
    return null;
  }
}

function place(roots: WorkspaceRoots, parts: string[]): Located {
  const path = parts.join('/');
  const [first, ...rest] = parts;
  const fixed =
    first !== undefined && Object.hasOwn(roots.readOnly, first) ? roots.readOnly[first] : undefined;
  if (fixed !== undefined) return { path, root: fixed, parts: rest, writable: false };
  return { path, root: roots.workspace, parts, writable: !roots.isReadOnly(path) };
}

function outside(path: string): PathRefused {
  return new PathRefused(`${path} leads out of the workspace. Use paths relative to the workspace.`);
}
