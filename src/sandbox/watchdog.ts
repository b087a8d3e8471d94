import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { folderSize } from './folder-size.ts';
import { proportionalBytesOf, removedFileBytes, usageOf } from './process-tree.ts';

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

export interface WatchTarget {
  /** Host ids of the command's processes; empty where they can't be seen. */
  processes(): number[];
  folder: WatchedFolder | null;
  /** What no kernel group holds down; null: one does. */
  sums: { memoryBytes: number; processes: number } | null;
}

const firstCheckMs = 50;
const shortestMs = 100;
/** A round's share of the time: it sleeps this many times as long as it took. */
const restFactor = 25;

/**
 * Looks at a command from time to time, costing at most a twenty-fifth of a core: at the size of the folder that it
 * writes to, and, where no kernel group does it, at the memory and the number of its processes.
 */
export class Watchdog {
  peakMemoryBytes: number | null = null;
  cpuSeconds: number | null = null;
  readonly #target: WatchTarget;
  readonly #onBreach: (breach: Breach) => void;
  readonly #stopping = new AbortController();
  readonly #allowedBytes: number;
  readonly #done: Promise<void>;

  constructor(target: WatchTarget, onBreach: (breach: Breach) => void) {
    this.#target = target;
    this.#onBreach = onBreach;
    this.#allowedBytes = allowance(target.folder);
    this.#done = target.folder === null && target.sums === null ? Promise.resolve() : this.#watch();
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
  sample(): void {
    this.#exceedsSums(this.#target.processes());
  }

  async #watch(): Promise<void> {
    const { signal } = this.#stopping;
    for (let pause = firstCheckMs; ; ) {
      await sleep(pause, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const before = performance.now();
      const breach = await this.#look();
      if (breach !== null) return this.#onBreach(breach);
      pause = Math.max(shortestMs, (performance.now() - before) * restFactor);
    }
  }

  async #look(): Promise<Breach | null> {
    const pids = this.#target.processes();
    if (this.#exceedsSums(pids)) return 'out_of_memory';
    const { folder } = this.#target;
    if (folder === null) return null;
    const removed = removedFileBytes(pids, statSync(folder.path, { throwIfNoEntry: false })?.dev ?? -1);
    const size = removed + (await folderSize(folder.path, this.#allowedBytes));
    return size > this.#allowedBytes ? 'workspace_full' : null;
  }

  #exceedsSums(pids: readonly number[]): boolean {
    const { sums } = this.#target;
    if (sums === null || pids.length === 0) return false;
    const usage = usageOf(pids);
    // Pages that processes share count in each: a sum above the limit needs the dearer, exact look.
    const suspicious = usage.residentBytes > sums.memoryBytes;
    const bytes = suspicious ? proportionalBytesOf(pids) : usage.residentBytes;
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes ?? 0, bytes);
    this.cpuSeconds = Math.max(this.cpuSeconds ?? 0, usage.cpuSeconds);
    return bytes > sums.memoryBytes || usage.threads > sums.processes;
  }
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
