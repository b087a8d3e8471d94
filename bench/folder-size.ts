import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface FolderSize {
  /** The size of the files' contents. */
  bytes: number;
  /** The disk space of files and folders. */
  diskBytes: number;
  files: number;
  folders: number;
}

/** Of a folder with all its contents. */
export function folderSize(folder: string): FolderSize {
  const size: FolderSize = { bytes: 0, diskBytes: 512 * statSync(folder).blocks, files: 0, folders: 0 };
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    const state = statSync(join(entry.parentPath, entry.name));
    // Blocks are of 512 bytes, whatever the disk's own are.
    size.diskBytes += 512 * state.blocks;
    if (entry.isFile()) {
      size.files += 1;
      size.bytes += state.size;
    } else if (entry.isDirectory()) {
      size.folders += 1;
    }
  }
  return size;
}
