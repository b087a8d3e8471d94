import { statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderSize } from './folder-size.ts';
import { FrozenProcesses } from './frozen-processes.ts';
import { removedFileBytes } from './process-tree.ts';

/** A folder that all commands of a sandbox write to. */
export interface WatchedFolder {
  path: string;
  maxBytes: number;
  /**
   * Its size after the last command; null before the first. Where that was too much already, a command may not add to it
   * but may run, so that it can clear up.
   */
  bytes: number | null;
}

const mebibyte = 2 ** 20;
const firstLookMs = 50;
const shortestRestMs = 100;
/** A look's share of the time: it rests this many times as long as it took. */
const restFactor = 25;
/** The least, as many times as long, where the folder may be full already. */
const hurryFactor = 2;

/** How often it asks the file system for the room it has left: sooner the sooner a fast writer could have taken it. */
const pauseMs = { least: 5, most: 100 };
const fastestBytesPerMs = 4 * mebibyte;
/** The least loss of room that is looked into: others write to the same file system. */
const leastLossBytes = 4 * mebibyte;

/**
 * Looks at the size of a folder while a command writes to it. That takes time, so it rests in between and only asks
 * the file system how much room it has left. Once that fell by half of what the folder may still grow, whoever took
 * it, the command's processes stand still until it has looked.
 */
export class FolderWatch {
  readonly #folder: WatchedFolder;
  readonly #processes: () => number[];
  readonly #signal: AbortSignal;
  readonly #allowedBytes: number;
  /** At the last look: what the folder could still grow by, and what its file system had left. */
  #last: { bytesLeft: number; freeBytes: number };

  /** @param processes host ids of those that write to it */
  constructor(folder: WatchedFolder, processes: () => number[], signal: AbortSignal) {
    this.#folder = folder;
    this.#processes = processes;
    this.#signal = signal;
    this.#allowedBytes = allowedBytesOf(folder);
    const bytesLeft = this.#allowedBytes - (folder.bytes ?? 0);
    this.#last = { bytesLeft, freeBytes: freeBytesAt(folder.path) };
  }

  /** Resolves to true when the folder is too large, to false when nobody wants to know any more. */
  async isExceeded(): Promise<boolean> {
    // What lies in it before the first command is known to nobody.
    let rest = this.#folder.bytes === null ? 0 : firstLookMs;
    for (let took = 0; ; rest = Math.max(shortestRestMs, took * restFactor)) {
      const start = performance.now();
      const mayBeFull = await this.#mayFillWithin(rest);
      if (this.#signal.aborted) return false;
      const frozen = mayBeFull ? new FrozenProcesses(this.#processes) : null;
      const breather = took * hurryFactor - (performance.now() - start);
      if (breather > 0) await this.#sleep(breather);
      const before = performance.now();
      // They stay frozen for whoever ends them.
      if (await this.#look()) return true;
      frozen?.thaw();
      took = performance.now() - before;
    }
  }

  /** A last look, when all processes are dead: a command may be over before anyone looked. */
  async settle(): Promise<boolean> {
    this.#folder.bytes = await folderSize(this.#folder.path, Number.POSITIVE_INFINITY);
    return this.#folder.bytes > this.#allowedBytes;
  }

  /** Whether, within so many milliseconds, the file system loses as much room as matters. */
  async #mayFillWithin(milliseconds: number): Promise<boolean> {
    const { bytesLeft, freeBytes } = this.#last;
    const tolerated = Math.max(leastLossBytes, bytesLeft / 2);
    const end = performance.now() + milliseconds;
    for (let left = milliseconds; left > 0 && !this.#signal.aborted; left = end - performance.now()) {
      const unused = tolerated - (freeBytes - freeBytesAt(this.#folder.path));
      if (unused <= 0) return true;
      const pause = Math.min(pauseMs.most, Math.max(pauseMs.least, unused / fastestBytesPerMs));
      await this.#sleep(Math.min(pause, left));
    }
    return false;
  }

  async #look(): Promise<boolean> {
    const { path } = this.#folder;
    const freeBytes = freeBytesAt(path);
    const device = statSync(path, { throwIfNoEntry: false })?.dev ?? -1;
    const removed = await removedFileBytes(this.#processes(), device);
    // Too many open files to look at.
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

/** A size that could not be measured allows nothing more. */
function allowedBytesOf({ bytes, maxBytes }: WatchedFolder): number {
  return bytes !== null && Number.isFinite(bytes) ? Math.max(maxBytes, bytes) : maxBytes;
}

/** What the file system of a folder has left for anybody; where it does not say, nothing follows from that. */
function freeBytesAt(path: string): number {
  try {
    const { bfree, bsize } = statfsSync(path);
    return bfree * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
