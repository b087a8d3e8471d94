import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FolderHandle } from './folder-handle.ts';

/** Takes the right to write from everybody, for a folder and all in it. @param mask mode bits that may stay */
export function makeReadOnly(folder: string, mask = 0o555): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path, mask);
    else if (entry.isFile()) chmodSync(path, 0o444 & mask);
  }
  chmodSync(folder, 0o555 & mask);
}

/**
 * Deletes a folder, whatever lies in it: names of any bytes, any depth, folders that were closed to their owner. A link
 * or a file of that name is deleted too. Does nothing where there is none.
 */
export function removeTree(folder: string): void {
  if (!existsSync(dirname(folder))) return;
  using parent = FolderHandle.open(dirname(folder));
  parent.remove(basename(folder));
}

/** Deletes all that lies in a folder; others have their turn meanwhile. */
export async function emptyTree(folder: string): Promise<void> {
  using handle = FolderHandle.open(folder);
  for (const name of handle.names()) await handle.removeSlowly(name);
}

/** As `removeTree`, for folders that may be large: others have their turn meanwhile. Breaking off leaves a part. */
export async function removeTreeSlowly(folder: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(dirname(folder))) return;
  using parent = FolderHandle.open(dirname(folder));
  await parent.removeSlowly(basename(folder), signal);
}
