import { setTimeout as sleep } from 'node:timers/promises';
import { FolderWatch, type WatchedFolder } from './folder-watch.ts';
import { type HeldMemory, heldMemory, netlinkBytes, nothingHeld } from './kernel-memory.ts';
import { proportionalBytesOf, type TreeUsage, usageOf } from './process-tree.ts';
import { machineSharedBytes, sharedMappingBytes } from './shared-mappings.ts';

/** Why the watchdog ends a command. */
export type Breach = 'out_of_memory' | 'workspace_full';

export interface SumLimits {
  memoryBytes: number;
  processes: number;
  /** Whether the processes have private memory file systems and a network namespace, to be counted with them. */
  isApart: boolean;
}

export interface WatchTarget {
  /** Host ids of the command's processes; empty if they can't be seen. */
  processes(): number[];
  folder: WatchedFolder | null;
  /** The limits that no kernel group enforces; null: one does. */
  sums: SumLimits | null;
  /**
   * The maximum, in bytes, of memory that control groups do not count: unread answers of netlink. Absent: not checked.
   */
  netlinkBytes?: number;
  /** The same for everything that sockets may hold. */
  socketBytes?: number;
}

const firstCheckMs = 50;
const shortestMs = 100;
/** Limits the share of time: the watchdog sleeps this many times as long as a round took. */
const restFactor = 25;

/**
 * Checks a command periodically, at a cost of at most a twenty-fifth of a core: the size of the folder that it writes
 * to, and, if no kernel group does it, the memory and the number of its processes.
 */
export class Watchdog {
  peakMemoryBytes: number | null = null;
  cpuSeconds: number | null = null;
  readonly #target: WatchTarget;
  readonly #onBreach: (breach: Breach) => void;
  readonly #sharedBefore: number;
  readonly #stopping = new AbortController();
  readonly #folder: FolderWatch | null;
  readonly #done: Promise<unknown>;

  constructor(target: WatchTarget, onBreach: (breach: Breach) => void) {
    this.#target = target;
    this.#onBreach = onBreach;
    this.#sharedBefore = target.sums === null ? 0 : machineSharedBytes();
    this.#folder =
      target.folder === null
        ? null
        : new FolderWatch(target.folder, () => target.processes(), this.#stopping.signal);
    this.#done = Promise.all([
      this.#watchFolder(),
      target.sums === null ? null : this.#watchSums(),
      this.#watchMemory(target.netlinkBytes, netlinkBytes),
      this.#watchMemory(target.socketBytes, (pid) => heldMemory(pid).socketBytes),
    ]);
  }

  /** Resolves when it has stopped. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  /** A last check of the folder, when all processes are dead: a command may have ended before it was checked. */
  async settle(): Promise<void> {
    if ((await this.#folder?.settle()) === true) this.#onBreach('workspace_full');
  }

  /** Measures the usage now. */
  async sample(): Promise<void> {
    await this.#exceedsSums(this.#target.processes());
  }

  async #watchSums(): Promise<void> {
    await this.#repeat(async () =>
      (await this.#exceedsSums(this.#target.processes())) ? 'out_of_memory' : null,
    );
  }

  /** @param bytesOf of the namespaces of a process inside */
  async #watchMemory(most: number | undefined, bytesOf: (pid: number) => number): Promise<void> {
    if (most === undefined) return;
    await this.#repeat(async () => {
      const [first] = this.#target.processes();
      return first !== undefined && bytesOf(first) > most ? 'out_of_memory' : null;
    });
  }

  async #watchFolder(): Promise<void> {
    if ((await this.#folder?.isExceeded()) === true) this.#onBreach('workspace_full');
  }

  /** Checks until something is wrong or the watchdog is stopped. */
  async #repeat(look: () => Promise<Breach | null>): Promise<void> {
    const { signal } = this.#stopping;
    for (let rest = firstCheckMs; ; ) {
      await sleep(rest, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      const before = performance.now();
      const breach = await look();
      if (breach !== null) return this.#onBreach(breach);
      rest = Math.max(shortestMs, (performance.now() - before) * restFactor);
    }
  }

  async #exceedsSums(pids: readonly number[]): Promise<boolean> {
    const { sums } = this.#target;
    if (sums === null || pids.length === 0) return false;
    const usage = usageOf(pids);
    const [first] = pids;
    const held = { ...(sums.isApart && first !== undefined ? heldMemory(first) : nothingHeld) };
    held.fileBytes += await this.#mappedBytes(pids, sums.memoryBytes - withHeld(usage, held));
    // Pages that processes share count in each: a sum above the limit needs the slower, exact measurement.
    const suspicious = withHeld(usage, held) > sums.memoryBytes;
    const bytes = suspicious ? withHeld(await proportionalBytesOf(pids), held) : withHeld(usage, held);
    this.peakMemoryBytes = Math.max(this.peakMemoryBytes ?? 0, bytes);
    this.cpuSeconds = Math.max(this.cpuSeconds ?? 0, usage.cpuSeconds);
    return bytes > sums.memoryBytes || usage.threads > sums.processes;
  }

  /** In shared mappings without a file; 0 if all that the machine has of this kind is not too much. */
  async #mappedBytes(pids: readonly number[], allowed: number): Promise<number> {
    const all = machineSharedBytes();
    if (all <= allowed) return 0;
    return (await sharedMappingBytes(pids, Math.max(0, all - this.#sharedBefore))) ?? all;
  }
}

/** What is mapped of files in memory, and of memory without a file, is in the processes' memory already. */
function withHeld(usage: Pick<TreeUsage, 'residentBytes' | 'sharedBytes'>, held: HeldMemory): number {
  return usage.residentBytes + Math.max(0, held.fileBytes - usage.sharedBytes) + held.socketBytes;
}
