import { chmodSync, existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FolderHandle } from './folder-handle.ts';

/**
 * Removes everybody's write permission from a folder and all its contents.
 * @param mask mode bits that may stay
 */
export function makeReadOnly(folder: string, mask = 0o555): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path, mask);
    else if (entry.isFile()) chmodSync(path, 0o444 & mask);
  }
  chmodSync(folder, 0o555 & mask);
}

/**
 * Deletes a folder with any contents: names of any bytes, any depth, folders closed to their owner. A link or a file of
 * that name is deleted too. Does nothing if there is none.
 */
export function removeTree(folder: string): void {
  if (!existsSync(dirname(folder))) return;
  using parent = FolderHandle.open(dirname(folder));
  parent.remove(basename(folder));
}

/** Deletes everything in a folder, giving others a turn now and then. */
export async function emptyTree(folder: string): Promise<void> {
  using handle = FolderHandle.open(folder);
  for (const name of handle.names()) await handle.removeSlowly(name);
}

/**
 * As `removeTree`, for folders that may be large: gives others a turn now and then. An interrupted removal leaves a
 * part.
 */
export async function removeTreeSlowly(folder: string, signal?: AbortSignal): Promise<void> {
  if (!existsSync(dirname(folder))) return;
  using parent = FolderHandle.open(dirname(folder));
  await parent.removeSlowly(basename(folder), signal);
}
