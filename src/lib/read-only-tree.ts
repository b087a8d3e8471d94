import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from './errors.ts';

/** Takes the right to write from everybody, for a folder and all in it. @param mask mode bits that may stay */
export function makeReadOnly(folder: string, mask = 0o555): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadOnly(path, mask);
    else if (entry.isFile()) chmodSync(path, 0o444 & mask);
  }
  chmodSync(folder, 0o555 & mask);
}

/** Deletes a folder, also one that was made read-only. Does nothing where there is none. */
export function removeTree(folder: string): void {
  const options = { recursive: true, force: true, maxRetries: 3 };
  try {
    rmSync(folder, options);
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error;
    makeRemovable(folder);
    rmSync(folder, options);
  }
}

function makeRemovable(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) makeRemovable(join(folder, entry.name));
  }
}
