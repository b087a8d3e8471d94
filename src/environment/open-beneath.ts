import { closeSync, constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode, messageOf } from '../lib/errors.ts';
import { PathFailed, PathRefused } from './workspace-path.ts';

const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK, O_DIRECTORY } = constants;

export interface OpenedFolder {
  descriptor: number;
  /** On Linux a path that stays with the opened folder, whatever becomes of its name. */
  path: string;
}

/**
 * Opens folder after folder, each relative to the one before and none through a link. The caller closes it.
 * @param shown the whole path, for messages
 */
export function openChain(root: string, parts: string[], create: boolean, shown: string): OpenedFolder {
  let folder = opened(openFolder(root, false, shown), root);
  for (const part of parts) {
    const child = join(folder.path, part);
    try {
      const next = opened(openFolder(child, create, shown), child);
      closeSync(folder.descriptor);
      folder = next;
    } catch (error) {
      closeSync(folder.descriptor);
      throw error;
    }
  }
  return folder;
}

/** Opens a file, never through a link and never waiting for another end. The caller closes it. */
export function openLast(path: string, flags: number, shown: string): number {
  try {
    return openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o644);
  } catch (error) {
    throw explained(error, shown);
  }
}

function opened(descriptor: number, path: string): OpenedFolder {
  return { descriptor, path: process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : path };
}

function openFolder(path: string, create: boolean, shown: string): number {
  const flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  try {
    return openSync(path, flags);
  } catch (error) {
    if (!create || !hasCode(error, 'ENOENT')) throw explained(error, shown);
  }
  try {
    mkdirSync(path);
  } catch (error) {
    // Another process made it meanwhile: whether it is a folder shows when it is opened.
    if (!hasCode(error, 'EEXIST')) throw explained(error, shown);
  }
  try {
    return openSync(path, flags);
  } catch (error) {
    throw explained(error, shown);
  }
}

/** What a failed call of the file system means to the agent; anything else as it is. */
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
    case 'ENAMETOOLONG':
      return new PathFailed('The name is too long.');
    default:
      return new PathFailed(`${shown} can't be used: ${messageOf(error)}`);
  }
}
