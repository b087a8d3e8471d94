import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface FolderSize {
  /** What the files hold. */
  bytes: number;
  /** What files and folders take on this disk. */
  diskBytes: number;
  files: number;
  folders: number;
}

/** Of a folder with all that is in it. */
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
