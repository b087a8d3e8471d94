import { readdirSync, statSync } from 'node:fs';
import { setImmediate as othersTurn } from 'node:timers/promises';
import { namesIn } from '../lib/files-there.ts';
import { kernelField, kernelText } from './kernel-text.ts';

/** What the processes of a tree use together. */
export interface TreeUsage {
  /** Including swap and the kernel's page tables. */
  residentBytes: number;
  /** Of these: pages of files in memory, which processes may share. */
  sharedBytes: number;
  threads: number;
  /** Of the living ones and of children that they have waited for. */
  cpuSeconds: number;
}

const ticksPerSecond = 100;
const kibibyte = 1024;
/** The limit of open files that are examined, of all processes of a command together; more are suspicious. */
const maxDescriptors = 100_000;
const descriptorsPerTurn = 200;

/**
 * Host ids of the processes below this one, without itself: for the first process of a namespace, all others in it.
 * Stops at `most`, since a tree may grow faster than it can be walked.
 */
export function descendantsOf(pid: number, most: number): number[] {
  const found: number[] = [];
  const waiting = [pid];
  for (let next = waiting.pop(); next !== undefined && found.length < most; next = waiting.pop()) {
    for (const child of childrenOf(next)) {
      found.push(child);
      waiting.push(child);
    }
  }
  return found;
}

/** Sends a signal; processes that are gone, or may not be signalled, are skipped. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has ended already.
    }
  }
}

/** Whether it is stopped, by a signal or a tracer. */
export function isStopped(pid: number): boolean {
  return /^[Tt]/.test(fieldsAfterName(pid)[0] ?? '');
}

export function usageOf(pids: readonly number[]): TreeUsage {
  const usage: TreeUsage = { residentBytes: 0, sharedBytes: 0, threads: 0, cpuSeconds: 0 };
  for (const pid of pids) {
    const status = readProcess(pid, 'status');
    const fields = ['VmRSS', 'VmSwap', 'VmPTE'].map((name) => kernelField(status, name));
    usage.residentBytes += fields.reduce((sum, value) => sum + value, 0) * kibibyte;
    usage.sharedBytes += kernelField(status, 'RssShmem') * kibibyte;
    usage.threads += kernelField(status, 'Threads');
    usage.cpuSeconds += cpuSecondsOf(pid);
  }
  return usage;
}

/**
 * Memory in bytes, with pages that several processes share counted once. Slow: some milliseconds per process, so others
 * get a turn after each.
 */
export async function proportionalBytesOf(
  pids: readonly number[],
): Promise<Pick<TreeUsage, 'residentBytes' | 'sharedBytes'>> {
  const usage = { residentBytes: 0, sharedBytes: 0 };
  for (const pid of pids) {
    const rollup = readProcess(pid, 'smaps_rollup');
    const status = readProcess(pid, 'status');
    const own = rollup === '' ? kernelField(status, 'VmRSS') : kernelField(rollup, 'Pss');
    const kernels = kernelField(status, 'VmSwap') + kernelField(status, 'VmPTE');
    usage.residentBytes += (own + kernels) * kibibyte;
    usage.sharedBytes += kernelField(rollup, 'Pss_Shmem') * kibibyte;
    await othersTurn();
  }
  return usage;
}

/**
 * Disk space of removed files that these processes have open, in bytes; infinite if there are too many open files to
 * examine. Yields to the event loop every few hundred.
 */
export async function removedFileBytes(pids: readonly number[], device: number): Promise<number> {
  const sizes = new Map<number, number>();
  let seen = 0;
  for (const pid of pids) {
    const names = listProcess(pid, 'fd');
    if (seen + names.length > maxDescriptors) return Number.POSITIVE_INFINITY;
    for (const name of names) {
      if (++seen % descriptorsPerTurn === 0) await othersTurn();
      try {
        const stat = statSync(`/proc/${pid}/fd/${name}`);
        if (stat.isFile() && stat.nlink === 0 && stat.dev === device) sizes.set(stat.ino, stat.blocks * 512);
      } catch {
        // Closed meanwhile.
      }
    }
  }
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Host ids of processes in whose environment a variable has such a value. */
export function processesWithVariable(name: string, isSuch: (value: string) => boolean): number[] {
  const start = `${name}=`;
  return allProcesses().filter((pid) =>
    readProcess(pid, 'environ')
      .split('\0')
      .some((entry) => entry.startsWith(start) && isSuch(entry.slice(start.length))),
  );
}

function allProcesses(): number[] {
  return namesIn('/proc').map(Number).filter(Number.isInteger);
}

/** Host ids. */
export function childrenOf(pid: number): number[] {
  return listProcess(pid, 'task').flatMap((thread) =>
    readProcess(pid, `task/${thread}/children`).split(' ').filter(Boolean).map(Number),
  );
}

function cpuSecondsOf(pid: number): number {
  const ticks = fieldsAfterName(pid)
    .slice(11, 15)
    .reduce((sum, field) => sum + Number(field), 0);
  return ticks / ticksPerSecond;
}

/** The fields of its `stat`, from the third on: the name before them may contain anything. */
function fieldsAfterName(pid: number): string[] {
  const stat = readProcess(pid, 'stat');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

function readProcess(pid: number, file: string): string {
  return kernelText(`/proc/${pid}/${file}`);
}

function listProcess(pid: number, folder: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/${folder}`);
  } catch {
    return [];
  }
}
