import { constants, openSync } from 'node:fs';
import { hasCode, messageOf } from '../lib/errors.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import { PathFailed, PathRefused } from './workspace-path.ts';

const { O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Opens folder after folder, each relative to the one before and none through a link. The caller closes it.
 * @param shown the whole path, for messages
 */
export function openChain(root: string, parts: string[], create: boolean, shown: string): FolderHandle {
  try {
    let folder = FolderHandle.open(root);
    for (const part of parts) {
      using parent = folder;
      folder = openInner(parent, part, create);
    }
    return folder;
  } catch (error) {
    throw explained(error, shown);
  }
}

/**
 * Opens a file without following a link, and without waiting for the other end of a pipe or the holder of a lease. The
 * caller closes it.
 */
export function openLast(path: string | Buffer, flags: number, shown: string): number {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    throw explained(error, shown);
  }
}

function openInner(parent: FolderHandle, name: string, create: boolean): FolderHandle {
  try {
    return parent.openFolder(name);
  } catch (error) {
    if (!create || !hasCode(error, 'ENOENT')) throw error;
  }
  try {
    parent.createFolder(name);
  } catch (error) {
    // Another process made it meanwhile; opening it shows whether it is a folder.
    if (!hasCode(error, 'EEXIST')) throw error;
  }
  return parent.openFolder(name);
}

/** Explains a failed file-system call to the agent; returns any other error unchanged. */
export function explained(error: unknown, shown: string): unknown {
  if (!(error instanceof Error && 'code' in error) || error instanceof PathFailed) return error;
  switch (error.code) {
    case 'ENOENT':
      return new PathFailed(`${shown} does not exist. List Files shows what is there.`);
    case 'ENOTDIR':
      return new PathFailed(`${shown} can't be reached: a part of it is not a folder.`);
    case 'EISDIR':
      return new PathFailed(`${shown} is a folder, not a file.`);
    case 'ELOOP':
      return new PathRefused(`${shown} turned into a link while it was being opened.`);
    case 'ENXIO':
      return new PathFailed(`${shown} is not a file.`);
    case 'EACCES':
    case 'EPERM':
      return new PathFailed(`${shown}: permission denied.`);
    case 'EAGAIN':
      return new PathFailed(`${shown} is held by another process (a lease): it can't be opened now.`);
    case 'ENAMETOOLONG':
      return new PathFailed('The name is too long.');
    default:
      return new PathFailed(`${shown} can't be used: ${messageOf(error)}`);
  }
}
