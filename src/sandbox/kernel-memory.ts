import { statfsSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolders } from './bubblewrap-arguments.ts';
import { kernelText } from './kernel-text.ts';

/** What the kernel keeps for a file of a memory file system, besides its content. */
const bytesPerFile = 1024;
/** What a socket may hold unread if the system does not say. */
const usualBuffer = 212_992;
/** The unit in which the kernel counts what streams hold; larger pages are rare, and are underestimated. */
const pageBytes = 4096;
/** Linux's TMPFS_MAGIC. */
const memoryFileSystem = 0x01021994;

/** Memory of a command that belongs to none of its processes, if no control group counts it. */
export interface HeldMemory {
  /** Files in the private memory file systems. Their mapped pages count in the processes' memory too. */
  fileBytes: number;
  /** The maximum of data in sockets, all of which are local. */
  socketBytes: number;
}

export const nothingHeld: HeldMemory = { fileBytes: 0, socketBytes: 0 };

/** @param pid host id of a process inside, whose namespaces are examined */
export function heldMemory(pid: number): HeldMemory {
  const fileBytes = temporaryFolders.map((folder) => usedBytes(`/proc/${pid}/root${folder}`));
  return {
    fileBytes: sum(fileBytes),
    socketBytes:
      linesOf(`/proc/${pid}/net/unix`).length * bytesPerSocket() + networkBytes(`/proc/${pid}/net`),
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

/** Data held by connections to the sandbox's own network addresses. */
function networkBytes(folder: string): number {
  const datagrams = ['udp', 'udp6'].flatMap((name) => linesOf(join(folder, name)));
  return sum([...datagrams.map(queuedBytes), unreadOfNetlink(folder)]) + streamBytes(folder);
}

/** @param pid as for `heldMemory` */
export function netlinkBytes(pid: number): number {
  return unreadOfNetlink(`/proc/${pid}/net`);
}

function unreadOfNetlink(folder: string): number {
  return sum(linesOf(join(folder, 'netlink')).map((line) => Number(fieldsOf(line)[4] ?? 0)));
}

/**
 * The column `tx_queue:rx_queue`, in hexadecimal digits; for datagrams it counts the memory that they take rather than
 * their content.
 */
function queuedBytes(line: string): number {
  const queues = fieldsOf(line)[4]?.split(':') ?? [];
  return sum(queues.map((digits) => Number.parseInt(digits, 16) || 0));
}

/**
 * The maximum that they can hold, or the total of the machine: for streams the kernel reports the content, not the
 * memory that it takes.
 */
function streamBytes(folder: string): number {
  const count = ['tcp', 'tcp6'].flatMap((name) => linesOf(join(folder, name))).length;
  if (count === 0) return 0;
  const most = ['tcp_rmem', 'tcp_wmem'].map((name) => lastNumber(`/proc/sys/net/ipv4/${name}`));
  const pages = /^TCP:.* mem (\d+)/m.exec(kernelText(join(folder, 'sockstat')))?.[1];
  return Math.min(count * Math.max(bytesPerSocket(), sum(most)), Number(pages ?? 0) * pageBytes);
}

function lastNumber(path: string): number {
  return Number(fieldsOf(kernelText(path)).at(-1) ?? 0);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function fieldsOf(line: string): string[] {
  return line.trim().split(/\s+/);
}

/**
 * Sent data is counted with its headers, which can take as much again. No command can raise the limit: see the filter.
 */
function bytesPerSocket(): number {
  return 2 * (lastNumber('/proc/sys/net/core/wmem_default') || usualBuffer);
}

/** Without the heading. */
function linesOf(path: string): string[] {
  return kernelText(path).split('\n').slice(1).filter(Boolean);
}
