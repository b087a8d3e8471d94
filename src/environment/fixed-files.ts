import { copyFileSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { removeTree } from '../lib/read-only-tree.ts';

/** A read-only file of the task, mounted over its place in the workspace. */
export interface FixedFile {
  /** Relative to the workspace. */
  path: string;
  /** Absolute path of the original on the host. */
  source: string;
}

/**
 * Puts back what read-only files are mounted on. They can't be moved themselves, but the folders they lie in can, and
 * with a link or a file in a folder's place no sandbox can be made. No process of the agent may live meanwhile.
 * @returns the files that were not in their place
 */
export function putBack(workspace: string, files: readonly FixedFile[]): FixedFile[] {
  const displaced = files.filter(({ path }) => !isInPlace(workspace, path));
  for (const { path, source } of displaced) {
    const parts = path.split('/');
    for (let depth = 1; depth < parts.length; depth += 1) {
      const folder = join(workspace, ...parts.slice(0, depth));
      if (kindAt(folder) !== 'folder') removeTree(folder);
      mkdirSync(folder, { recursive: true });
    }
    removeTree(join(workspace, path));
    copyFileSync(source, join(workspace, path));
  }
  return displaced;
}

function isInPlace(workspace: string, path: string): boolean {
  const parts = path.split('/');
  return parts.every((_, index) => {
    const kind = kindAt(join(workspace, ...parts.slice(0, index + 1)));
    return kind === (index === parts.length - 1 ? 'file' : 'folder');
  });
}

function kindAt(path: string): 'folder' | 'file' | 'other' | null {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if (stat.isDirectory()) return 'folder';
  return stat.isFile() ? 'file' : 'other';
}
