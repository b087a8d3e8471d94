import { execFileSync } from 'node:child_process';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { hasCode } from './errors.ts';

/** Identifies the space in which process ids are unique: this boot of this machine, and this container. */
export function machineIdentity(): string {
  try {
    return `${bootId()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/**
 * Identifies this boot of this machine.
 * @throws if the system does not provide it: on anything but Linux
 */
export function bootId(): string {
  return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
}

/**
 * Identifies this machine across its boots; null if it has no identifier. Copies of one image may share the machine id,
 * so the host name is included.
 */
export function lastingMachineIdentity(): string | null {
  try {
    const id = readFileSync('/etc/machine-id', 'utf8').trim();
    return /^[0-9a-f]{32}$/.test(id) ? `${id} ${hostname()}` : null;
  } catch {
    return null;
  }
}

/**
 * When a process began, as an opaque text that distinguishes it from a later process with the same id. Null if there is
 * no such process or the system does not say.
 */
export function processStartTime(pid: number): string | null {
  try {
    if (process.platform === 'linux') return startTimeFromProc(pid);
    return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim() || null;
  } catch {
    return null;
  }
}

/** Field 22 of /proc/<pid>/stat; the command before it may contain spaces and parentheses. A zombie has ended. */
function startTimeFromProc(pid: number): string | null {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return null;
  return fields[19] ?? null;
}

/** Whether that very process still runs; without a known start time, whether any process has its id. */
export function isProcessAlive(pid: number, started: string | null): boolean {
  if (started !== null) return processStartTime(pid) === started;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
