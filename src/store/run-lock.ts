import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { writeFileAtomically } from '../lib/atomic-file.ts';
import { hasCode, UserError } from '../lib/errors.ts';
import { createFileExclusively, readTextIfThere } from './documents.ts';

/** Who holds a lock. The fields beside `pid` tell one process from another that later got its number. */
export const LockHolder = z.object({
  v: z.literal(1),
  pid: z.int(),
  /** Start of the process in ticks since the machine started; null where the system doesn't tell. */
  process_start: z.string().nullable(),
  /** Of the machine's start; null where the system doesn't tell. */
  boot: z.string().nullable(),
  /** Process numbers mean something only within it; null where the system knows none. */
  pid_namespace: z.string().nullable(),
  host: z.string(),
  /** Milliseconds since 1970. */
  since: z.int(),
  /** Given back in order. */
  released: z.boolean(),
});
export type LockHolder = z.infer<typeof LockHolder>;

const lockName = /^lock\.(\d+)$/;

/** Held until `release`, or until the process ends, however it ends. */
export interface RunLock extends Disposable {
  release(): void;
}

/**
 * Lets one process at a time work on a folder. Every taker creates `lock.N` with the next higher number, which only
 * one can; the highest is the one that counts and is never removed, so nobody can mistake a fresh lock for a dead
 * one. A holder that was killed is noticed by its process being gone.
 * @throws UserError `run_locked` when a living process holds it, or one that can't be judged from here
 */
export function acquireLock(folder: string): RunLock {
  const highest = highestLock(folder);
  const holder = readHolder(folder, highest);
  if (holder && isHeld(holder)) throw locked(folder, highest, holder);
  const mine = highest + 1;
  const path = join(folder, `lock.${mine}`);
  const self = describeSelf();
  if (!createFileExclusively(path, serialize(self)) || highestLock(folder) !== mine) {
    // Another one was quicker.
    return acquireLock(folder);
  }
  for (const number of lockNumbers(folder)) {
    if (number < mine) rmSync(join(folder, `lock.${number}`), { force: true });
  }
  let held = true;
  const release = () => {
    if (held) writeFileAtomically(path, serialize({ ...self, released: true }));
    held = false;
  };
  return { release, [Symbol.dispose]: release };
}

/** Who works on the folder now; null when nobody does. */
export function lockHolder(folder: string): LockHolder | null {
  const holder = readHolder(folder, highestLock(folder));
  return holder && isHeld(holder) ? holder : null;
}

function serialize(holder: LockHolder): string {
  return `${JSON.stringify(holder)}\n`;
}

function lockNumbers(folder: string): number[] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const number = lockName.exec(name)?.[1];
      return number === undefined ? [] : [Number(number)];
    });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** 0 when there is none. */
function highestLock(folder: string): number {
  return Math.max(0, ...lockNumbers(folder));
}

/** Null when there is none, or it holds no such thing, as after a power cut. */
function readHolder(folder: string, number: number): LockHolder | null {
  const text = number === 0 ? null : readTextIfThere(join(folder, `lock.${number}`));
  if (text === null) return null;
  try {
    return LockHolder.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** True also when the holder can't be judged from here: then it is safer to leave it alone. */
function isHeld(holder: LockHolder): boolean {
  if (holder.released) return false;
  const self = describeSelf();
  if (holder.host !== self.host) return true;
  if (holder.boot !== self.boot) return false;
  if (holder.pid_namespace !== self.pid_namespace) return true;
  if (!isAlive(holder.pid)) return false;
  const start = processStart(holder.pid);
  return start === null || holder.process_start === null || start === holder.process_start;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, 'ESRCH');
  }
}

function describeSelf(): LockHolder {
  return {
    v: 1,
    pid: process.pid,
    process_start: processStart(process.pid),
    boot: readTextIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? null,
    pid_namespace: pidNamespace(),
    host: hostname(),
    since: Date.now(),
    released: false,
  };
}

/** The start time of a process as Linux tells it, `ended` for a zombie; null when it is gone, and on other systems. */
function processStart(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets, and may itself hold blanks and brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[0] === 'Z' || fields[0] === 'X' ? 'ended' : (fields[19] ?? null);
  } catch {
    return null;
  }
}

function pidNamespace(): string | null {
  try {
    return readlinkSync('/proc/self/ns/pid');
  } catch {
    return null;
  }
}

function locked(folder: string, number: number, holder: LockHolder): UserError {
  const since = new Date(holder.since).toISOString();
  return new UserError(
    'run_locked',
    `process ${holder.pid} on ${holder.host} has worked on ${folder} since ${since}`,
    `Wait until it has finished, or end it. If it surely runs no more, delete ${join(folder, `lock.${number}`)}.`,
  );
}
