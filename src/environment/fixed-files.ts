import { closeSync, fchmodSync, lstatSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DisposableStack } from '../lib/disposable-stack.ts';
import { FolderHandle } from '../lib/folder-handle.ts';

/** A read-only file of the task, mounted over its place in the workspace. */
export interface FixedFile {
  /** Relative to the workspace. */
  path: string;
  /** Absolute path of the original on the host. */
  source: string;
}

/**
 * Restores the mount points of read-only files. The files can't be moved, but their folders can, and no sandbox can be
 * made if a link or a file takes the place of such a folder. No process of the agent may run meanwhile.
 * @returns the files that were not in their place
 */
export function restoreFixedFiles(workspace: string, files: readonly FixedFile[]): FixedFile[] {
  const displaced = files.filter(({ path }) => !isInPlace(workspace, path));
  for (const { path, source } of displaced) {
    using handles = new DisposableStack();
    let folder = handles.use(FolderHandle.open(workspace));
    const parts = path.split('/');
    for (const name of parts.slice(0, -1)) {
      if (folder.stat(name)?.isDirectory() !== true) {
        folder.remove(name);
        folder.createFolder(name);
      }
      folder = handles.use(folder.openFolder(name));
    }
    const name = parts.at(-1) ?? path;
    folder.remove(name);
    copyInto(folder, name, source);
  }
  return displaced;
}

function copyInto(folder: FolderHandle, name: string, source: string): void {
  const descriptor = folder.createFile(name);
  try {
    writeFileSync(descriptor, readFileSync(source));
    fchmodSync(descriptor, statSync(source).mode & 0o777);
  } finally {
    closeSync(descriptor);
  }
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
