import { readFileSync, statfsSync } from 'node:fs';

/** What the kernel keeps for a file of a memory file system, beside its content. */
const bytesPerFile = 1024;
/** What a Unix socket may hold unread, at most, by the kernel's usual settings: half of it was asked for. */
const bytesPerSocket = 2 * 212_992;
/** Linux's TMPFS_MAGIC. */
const memoryFileSystem = 0x01021994;
const memoryFolders = ['tmp', 'dev/shm'];

/** Memory of a command that belongs to none of its processes, where no control group counts it. */
export interface HeldMemory {
  /** Files in the private memory file systems. Pages of them that are mapped are in the processes' memory too. */
  fileBytes: number;
  /** The most that is under way through local sockets. */
  socketBytes: number;
}

export const nothingHeld: HeldMemory = { fileBytes: 0, socketBytes: 0 };

/** @param pid host id of a process inside, whose namespaces are looked into */
export function heldMemory(pid: number): HeldMemory {
  const fileBytes = memoryFolders.map((folder) => usedBytes(`/proc/${pid}/root/${folder}`));
  return {
    fileBytes: fileBytes.reduce((sum, bytes) => sum + bytes, 0),
    socketBytes: countLines(`/proc/${pid}/net/unix`) * bytesPerSocket,
  };
}

function usedBytes(folder: string): number {
  try {
    const { type, blocks, bfree, bsize, files, ffree } = statfsSync(folder);
    if (type !== memoryFileSystem) return 0;
    return (blocks - bfree) * bsize + (files - ffree) * bytesPerFile;
  } catch {
    // The process is gone.
    return 0;
  }
}

/** But for the heading. */
function countLines(path: string): number {
  try {
    return Math.max(0, readFileSync(path, 'latin1').split('\n').length - 2);
  } catch {
    return 0;
  }
}
