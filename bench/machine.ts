import { readFileSync, statfsSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';

/** What the numbers depend on. */
export interface Machine {
  processor: string;
  cores: number;
  memory_mb: number;
  system: string;
  node: string;
  /** File system of the scratch folder. */
  files: string;
  /** Processes that wanted a core in the last minute: above zero, there was other load. */
  load: number;
}

/** @param scratch the folder in which everything is measured */
export function describeMachine(scratch: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memory_mb: Math.round(totalmem() / 2 ** 20),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    files: fileSystemOf(scratch),
    load: loadavg()[0] ?? 0,
  };
}

/** Numbers of statfs(2). */
const fileSystems: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlayfs',
  26985: 'nfs',
};

function fileSystemOf(folder: string): string {
  const { type } = statfsSync(folder);
  return fileSystems[type] ?? `type 0x${type.toString(16)}`;
}

/** Of all child processes that have ended; null if the system does not say. Ticks are 1/100 s. */
export function childrenCpuMs(): number | null {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return null;
  }
}

/**
 * The processor time of everything on this machine so far, in milliseconds: a process's children, above, are without
 * those that outlive it. Ticks are 1/100 s.
 */
export function machineCpuMs(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}
