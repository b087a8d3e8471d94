import { statfsSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderSize } from './folder-size.ts';
import { type HeldMemory, heldMemory, netlinkBytes, nothingHeld } from './kernel-memory.ts';
import { proportionalBytesOf, removedFileBytes, type TreeUsage, usageOf } from './process-tree.ts';

/** Why the watchdog ends a command. */
export type Breach = 'out_of_memory' | 'workspace_full';

/** A folder that all commands of a sandbox write to. */
export interface WatchedFolder {
  path: string;
  maxBytes: number;
  /**
   * Its size after the last command. Where that was too much already, a command may not add to it but may run, so
   * that it can clear up.
   */
  bytes: number;
}

export interface SumLimits {
  memoryBytes: number;
  processes: number;
  /** Whether the processes have memory file systems and a network namespace of their own, to be counted with them. */
  isApart: boolean;
}

export interface WatchTarget {
  /** Host ids of the command's processes; empty where they can't be seen. */
  processes(): number[];
  folder: WatchedFolder | null;
  /** What no kernel group holds down; null: one does. */
  sums: SumLimits | null;
  /** The most, in bytes, of what control groups do not count: unread answers of netlink. Absent: nobody looks. */
  netlinkBytes?: number;
}

const firstCheckMs = 50;
const shortestMs = 100;
/** A round's share of the time: it sleeps this many times as long as it took. */
const restFactor = 25;
/** The least, as many times as long, where the folder may be full already. */
const hurryFactor = 2;

/**
 * Looks at a command from time to time, costing at most a twenty-fifth of a core: at the size of the folder that it
 * writes to, and, where no kernel group does it, at the memory and the number of its processes. In between it asks the
 * file system ten times a second how much room it has left.
 */
export class Watchdog {
  peakMemoryBytes: number | null = null;
  cpuSeconds: number | null = null;
  readonly #target: WatchTarget;
  readonly #onBreach: (breach: Breach) => void;
  readonly #stopping = new AbortController();
  readonly #allowedBytes: number;
  /** With no more room than this on its file system, the folder may be full. */
  #alarmBytes = Number.NEGATIVE_INFINITY;
  readonly #done: Promise<unknown>;

  constructor(target: WatchTarget, onBreach: (breach: Breach) => void) {
    this.#target = target;
    this.#onBreach = onBreach;
    this.#allowedBytes = allowance(target.folder);
    this.#done = Promise.all([
      target.folder === null ? null : this.#watchFolder(target.folder),
      target.sums === null ? null : this.#watchSums(),
      target.netlinkBytes === undefined ? null : this.#watchNetlink(target.netlinkBytes),
    ]);
  }

  /** Resolves when it has stopped looking. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  /** A last look at the folder, when all processes are dead: a command may be over before anyone looked. */
  async settle(): Promise<void> {
    const { folder } = this.#target;
    if (folder === null) return;
    folder.bytes = await folderSize(folder.path, Number.POSITIVE_INFINITY);
    if (folder.bytes > this.#allowedBytes) this.#onBreach('workspace_full');
  }

  /** Looks at once at what is used. */
  async sample(): Promise<void> {
    await this.#exceedsSums(this.#target.processes());
  }

  async #watchSums(): Promise<void> {
    await this.#repeat(async () =>
      (await this.#exceedsSums(this.#target.processes())) ? 'out_of_memory' : null,
    );
  }

  async #watchNetlink(most: number): Promise<void> {
    await this.#repeat(async () => {
      const [first] = this.#target.processes();
      return first !== undefined && netlinkBytes(first) > most ? 'out_of_memory' : null;
    });
  }

  async #watchFolder(folder: WatchedFolder): Promise<void> {
    await this.#repeat(() => this.#measure(folder), folder);
  }

  /** Looks until something is wrong or nobody wants to know any more. */
  async #repeat(look: () => Promise<Breach | null>, folder: WatchedFolder | null = null): Promise<void> {
    for (let took = 0; ; ) {
      await this.#rest(took, folder);
      if (this.#stopping.signal.aborted) return;
      const before = performance.now();
      const breach = await look();
      if (breach !== null) return this.#onBreach(breach);
      took = performance.now() - before;
    }
  }

  /** Shorter where the file system has lost as much room as the folder may still grow, whoever took it. */
  async #rest(took: number, folder: WatchedFolder | null): Promise<void> {
    const { signal } = this.#stopping;
    const start = performance.now();
    const most = Math.max(took === 0 ? firstCheckMs : shortestMs, took * restFactor);
    for (let rested = 0; rested < most && !signal.aborted; rested = performance.now() - start) {
      await sleep(Math.min(shortestMs, most - rested), undefined, { signal, ref: false }).catch(() => {});
      const mayHurry = performance.now() - start >= took * hurryFactor;
      if (folder !== null && mayHurry && freeBytes(folder.path) <= this.#alarmBytes) return;
    }
  }

  async #measure(folder: WatchedFolder): Promise<Breach | null> {
    const pids = this.#target.processes();
    const free = freeBytes(folder.path);
    const device = statSync(folder.path, { throwIfNoEntry: false })?.dev ?? -1;
    const removed = await removedFileBytes(pids, device);
    if (removed === Number.POSITIVE_INFINITY) return 'workspace_full';
    const size = removed + (await folderSize(folder.path, this.#allowedBytes));
    this.#alarmBytes = free - Math.max(0, this.#allowedBytes - size);
    return size > this.#allowedBytes ? 'workspace_full' : null;
  }

  async #exceedsSums(pids: readonly number[]): Promise<boolean> {
    const { sums } = this.#target;
    if (sums === null || pids.length === 0) return false;
    const usage = usageOf(pids);
    const [first] = pids;
    const held = sums.isApart && first !== undefined ? heldMemory(first) : nothingHeld;
    // Pages that processes share count in each: a sum above the limit needs the dearer, exact look.
    const suspicious = withHeld(usage, held) > sums.memoryBytes;
    const bytes = suspicious ? withHeld(await proportionalBytesOf(pids), held) : withHeld(usage, held);
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes ?? 0, bytes);
    this.cpuSeconds = Math.max(this.cpuSeconds ?? 0, usage.cpuSeconds);
    return bytes > sums.memoryBytes || usage.threads > sums.processes;
  }
}

/** What the file system of a folder has left for anybody; where it does not say, nothing follows from that. */
function freeBytes(path: string): number {
  try {
    const { bfree, bsize } = statfsSync(path);
    return bfree * bsize;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

/** Files in memory that are mapped are in the processes' memory already. */
function withHeld(usage: Pick<TreeUsage, 'residentBytes' | 'sharedBytes'>, held: HeldMemory): number {
  return usage.residentBytes + Math.max(0, held.fileBytes - usage.sharedBytes) + held.socketBytes;
}

/** In bytes. A size that could not be measured allows nothing more. */
function allowance(folder: WatchedFolder | null): number {
  if (folder === null) return Number.POSITIVE_INFINITY;
  return Number.isFinite(folder.bytes) ? Math.max(folder.maxBytes, folder.bytes) : folder.maxBytes;
}

/** The folder that a sandbox's commands share. */
export function watchedFolder(watch: { folder: string; maxBytes: number } | null): WatchedFolder | null {
  return watch === null ? null : { path: watch.folder, maxBytes: watch.maxBytes, bytes: 0 };
}
