import { readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../lib/hash.ts';
import { listFolderFiles } from './folder-files.ts';

/**
 * SHA-256 over names and contents of a folder's files, in hex. It does not depend on where the folder is, on modes and
 * times, or on caches that tools left in it.
 */
export function folderVersion(folder: string, include: (path: string) => boolean = () => true): string {
  const lines = listFolderFiles(folder)
    .filter((file) => include(file.path))
    .map((file) => {
      const path = join(folder, file.path);
      const content = file.kind === 'file' ? sha256(readFileSync(path)) : `${file.kind} ${target(path)}`;
      return JSON.stringify([file.path, content]);
    });
  return sha256(lines.join('\n'));
}

function target(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
