import { statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderSize } from './folder-size.ts';
import { FrozenProcesses } from './frozen-processes.ts';
import { removedFileBytes } from './process-tree.ts';

/** A folder to which all commands of a sandbox write. */
export interface WatchedFolder {
  path: string;
  maxBytes: number;
  /**
   * Its size after the last command; null before the first. If that was too large already, a command may run, so that
   * it can clean up, but may not add to it.
   */
  bytes: number | null;
}

const mebibyte = 2 ** 20;
const firstCheckMs = 50;
const minRestMs = 100;
/** Limits the share of time for measuring: the watch pauses this many times as long as a measurement took. */
const restFactor = 25;
/** The smaller factor that applies if the folder may be full already. */
const urgentRestFactor = 2;

/** How often it asks the file system for its free space: sooner if a fast writer could have used it up sooner. */
const pauseMs = { min: 5, max: 100 };
const maxWriteBytesPerMs = 4 * mebibyte;
/** The smallest loss of free space that is investigated: others write to the same file system. */
const minLossBytes = 4 * mebibyte;

/**
 * Watches the size of a folder while a command writes to it. Measuring takes time, so in between it pauses and only
 * asks the file system for its free space. If that fell by half of what the folder may still grow, whoever caused it,
 * the command's processes are frozen until the folder has been measured.
 */
export class FolderWatch {
  readonly #folder: WatchedFolder;
  readonly #processes: () => number[];
  readonly #signal: AbortSignal;
  readonly #allowedBytes: number;
  /** At the last measurement: how much the folder could still grow, and the free space of its file system. */
  #last: { bytesLeft: number; freeBytes: number };

  /** @param processes host ids of the writing processes */
  constructor(folder: WatchedFolder, processes: () => number[], signal: AbortSignal) {
    this.#folder = folder;
    this.#processes = processes;
    this.#signal = signal;
    this.#allowedBytes = allowedBytesOf(folder);
    const bytesLeft = this.#allowedBytes - (folder.bytes ?? 0);
    this.#last = { bytesLeft, freeBytes: freeBytesAt(folder.path) };
  }

  /** Resolves to true if the folder is too large, to false when the watch is stopped. */
  async isExceeded(): Promise<boolean> {
    // The folder's size before the first command is unknown.
    let rest = this.#folder.bytes === null ? 0 : firstCheckMs;
    for (let took = 0; ; rest = Math.max(minRestMs, took * restFactor)) {
      const start = performance.now();
      const mayBeFull = await this.#mayFillWithin(rest);
      if (this.#signal.aborted) return false;
      const frozen = mayBeFull ? new FrozenProcesses(this.#processes) : null;
      const pause = took * urgentRestFactor - (performance.now() - start);
      if (pause > 0) await this.#sleep(pause);
      const before = performance.now();
      // They stay frozen until they are ended.
      if (await this.#measure()) return true;
      frozen?.thaw();
      took = performance.now() - before;
    }
  }

  /** A last measurement, when all processes are dead: a command may have ended before it was measured. */
  async settle(): Promise<boolean> {
    this.#folder.bytes = await folderSize(this.#folder.path, Number.POSITIVE_INFINITY);
    return this.#folder.bytes > this.#allowedBytes;
  }

  /** Whether, within so many milliseconds, the file system loses a relevant amount of space. */
  async #mayFillWithin(milliseconds: number): Promise<boolean> {
    const { bytesLeft, freeBytes } = this.#last;
    const tolerated = Math.max(minLossBytes, bytesLeft / 2);
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0 && !this.#signal.aborted; left = end - performance.now()) {
      const unused = tolerated - (freeBytes - freeBytesAt(this.#folder.path));
      if (unused <= 0) return true;
      const pause = Math.min(pauseMs.max, Math.max(pauseMs.min, unused / maxWriteBytesPerMs));
      await this.#sleep(Math.min(pause, left));
    }
    return false;
  }

  async #measure(): Promise<boolean> {
    const { path } = this.#folder;
    const freeBytes = freeBytesAt(path);
    const device = statSync(path, { throwIfNoEntry: false })?.dev ?? -1;
    const removed = await removedFileBytes(this.#processes(), device);
    // Too many open files to check.
    if (removed === Number.POSITIVE_INFINITY) return true;
    const size = removed + (await folderSize(path, this.#allowedBytes));
    this.#last = { bytesLeft: this.#allowedBytes - size, freeBytes };
    return size > this.#allowedBytes;
  }

  async #sleep(milliseconds: number): Promise<void> {
    await sleep(milliseconds, undefined, { signal: this.#signal, ref: false }).catch(() => {});
  }
}

/** The folder that a sandbox's commands share. */
export function watchedFolder(watch: { folder: string; maxBytes: number } | null): WatchedFolder | null {
  return watch === null ? null : { path: watch.folder, maxBytes: watch.maxBytes, bytes: null };
}

/** If the size could not be measured, nothing more is allowed. */
function allowedBytesOf({ bytes, maxBytes }: WatchedFolder): number {
  return bytes !== null && Number.isFinite(bytes) ? Math.max(maxBytes, bytes) : maxBytes;
}

/** The free space of a folder's file system; if it is unknown, nothing follows from it. */
function freeBytesAt(path: string): number {
  try {
    const { bfree, bsize } = statfsSync(path);
    return bfree * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
