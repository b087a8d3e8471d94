import { randomBytes } from 'node:crypto';
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { hasCode } from './errors.ts';
import { isProcessAlive, machineIdentity, processStartTime } from './process-identity.ts';

/**
 * A lock between processes, kept as a folder of numbered tickets. The holder is the highest ticket, unless it was
 * given back or its process is gone; whoever makes the next number (a hard link: it fails where the name exists)
 * holds the lock next. The highest ticket is never deleted, so numbers only grow, and of two processes that see
 * the same dead holder only one can follow it. Nothing has to be cleaned up after a kill -9.
 */
export interface FileLock extends Disposable {
  /** Gives the lock back; a second call does nothing. */
  release(): void;
}

export interface LockHolder {
  pid: number;
  host: string;
}

export interface LockOptions {
  signal?: AbortSignal | null;
  /** Called once for every holder that is waited for. */
  onWait?: (holder: LockHolder) => void;
  /**
   * Processes of another machine (or container) can't be looked up: such a holder is taken for dead after so many
   * milliseconds without a beat. Default: 30,000.
   */
  silenceMs?: number;
}

const Ticket = z.object({
  state: z.enum(['held', 'free']),
  pid: z.int(),
  started: z.string().nullable(),
  machine: z.string(),
  host: z.string(),
});
type Ticket = z.infer<typeof Ticket>;

const beatMs = 5_000;
const defaultSilenceMs = 30_000;

/**
 * Takes the lock at `folder` if nobody holds it, without waiting; else returns its holder. A holder on another
 * machine counts as alive while its last beat is younger than 30 s by the clock of the file system.
 * @throws file-system errors where the folder can't be written
 */
export function tryFileLock(folder: string): { lock: FileLock } | { holder: LockHolder } {
  mkdirSync(folder, { recursive: true });
  for (;;) {
    const highest = highestTicket(folder);
    const holder = holderOf(folder, highest, () => fileSystemTime(folder));
    if (holder !== null) return { holder };
    // The number after the ticket that was judged: whoever followed it in the meantime has made that one.
    if (makeTicket(folder, highest + 1)) return { lock: heldLock(folder, highest + 1) };
  }
}

/**
 * Who holds the lock at `folder` now; null when nobody does. Writes nothing, so that of a holder on another machine it
 * can only say what this machine's clock makes of its last beat.
 */
export function fileLockHolder(folder: string): LockHolder | null {
  return holderOf(folder, highestTicket(folder), Date.now);
}

/** Who holds the lock if this is its highest ticket; null when that one is given back, its process gone, or 0. */
function holderOf(folder: string, highest: number, now: () => number): LockHolder | null {
  const ticket = highest === 0 ? null : readTicket(folder, highest);
  if (ticket === null) return null;
  const isSilent = () => now() - lastBeat(folder, highest) > defaultSilenceMs;
  return isHeld(ticket, isSilent) ? { pid: ticket.pid, host: ticket.host } : null;
}

/**
 * Waits for the lock at `folder` (made when absent, with its parents) and takes it.
 * @throws the signal's reason when aborted while waiting; file-system errors where the folder can't be written.
 */
export async function acquireFileLock(folder: string, options: LockOptions = {}): Promise<FileLock> {
  mkdirSync(folder, { recursive: true });
  const watched = new Silence(options.silenceMs ?? defaultSilenceMs);
  let announced = 0;
  let pauseMs = 20;
  for (;;) {
    options.signal?.throwIfAborted();
    const highest = highestTicket(folder);
    const holder = highest === 0 ? null : readTicket(folder, highest);
    const isSilent = () => watched.isSilent(highest, lastBeat(folder, highest));
    if (holder === null || !isHeld(holder, isSilent)) {
      if (makeTicket(folder, highest + 1)) return heldLock(folder, highest + 1);
      continue;
    }
    if (announced !== highest) {
      announced = highest;
      options.onWait?.({ pid: holder.pid, host: holder.host });
    }
    await sleep(pauseMs, undefined, { ...(options.signal ? { signal: options.signal } : {}) }).catch(
      () => {},
    );
    pauseMs = Math.min(pauseMs * 1.5, 300);
  }
}

/** Runs `work` while holding the lock. */
export async function withFileLock<Result>(
  folder: string,
  options: LockOptions,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = await acquireFileLock(folder, options);
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function highestTicket(folder: string): number {
  const numbers = namesIn(folder).map((name) => (/^\d+$/.test(name) ? Number(name) : 0));
  return Math.max(0, ...numbers);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}

/** Null: it went away since the folder was listed. A ticket that can't be read counts as held elsewhere, until it is silent. */
function readTicket(folder: string, number: number): Ticket | null {
  try {
    const parsed = Ticket.safeParse(JSON.parse(readFileSync(join(folder, String(number)), 'utf8')));
    if (parsed.success) return parsed.data;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    if (!(error instanceof SyntaxError)) throw error;
  }
  return { state: 'held', pid: 0, started: null, machine: 'unknown', host: 'unknown' };
}

/** @param isSilent whether a holder that can't be looked up from here has shown no sign of life for too long */
function isHeld(ticket: Ticket, isSilent: () => boolean): boolean {
  if (ticket.state === 'free') return false;
  if (ticket.machine === machineIdentity()) return isProcessAlive(ticket.pid, ticket.started);
  return !isSilent();
}

function lastBeat(folder: string, number: number): number {
  return statSync(join(folder, String(number)), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** What the clock says that gives files their times, in ms; where nothing can be written, what this machine's says. */
function fileSystemTime(folder: string): number {
  const probe = draftPath(folder);
  try {
    writeFileSync(probe, '', { flag: 'wx' });
    return statSync(probe).mtimeMs;
  } catch {
    return Date.now();
  } finally {
    rmSync(probe, { force: true });
  }
}

/** Measures by this process's own clock how long a file's time stamp has stood still: clocks of machines differ. */
class Silence {
  private seen = '';
  private since = 0;
  private readonly limitMs: number;

  constructor(limitMs: number) {
    this.limitMs = limitMs;
  }

  isSilent(number: number, beat: number): boolean {
    const now = performance.now();
    if (this.seen !== `${number} ${beat}`) {
      this.seen = `${number} ${beat}`;
      this.since = now;
    }
    return now - this.since > this.limitMs;
  }
}

/** Whether the ticket was made and is the highest: false when another process was faster. */
function makeTicket(folder: string, number: number): boolean {
  const draft = writeDraft(folder, 'held');
  try {
    linkSync(draft, join(folder, String(number)));
  } catch (error) {
    // ENOENT: a new holder's tidying took the draft away.
    if (hasCode(error, 'EEXIST') || hasCode(error, 'ENOENT')) return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
  if (highestTicket(folder) === number) return true;
  rmSync(join(folder, String(number)), { force: true });
  return false;
}

/** A new one's; whoever gets the lock removes what is left of them. */
function draftPath(folder: string): string {
  return join(folder, `draft-${process.pid}-${randomBytes(6).toString('hex')}`);
}

function writeDraft(folder: string, state: Ticket['state']): string {
  const draft = draftPath(folder);
  writeFileSync(draft, JSON.stringify(ticketOf(state)), { flag: 'wx' });
  return draft;
}

/** Of this process. */
function ticketOf(state: Ticket['state']): Ticket {
  return {
    state,
    pid: process.pid,
    started: processStartTime(process.pid),
    machine: machineIdentity(),
    host: hostname(),
  };
}

function heldLock(folder: string, number: number): FileLock {
  const own = join(folder, String(number));
  for (const name of readdirSync(folder)) {
    if (name.startsWith('draft-') || Number(name) < number) rmSync(join(folder, name), { force: true });
  }
  const beat = setInterval(() => {
    try {
      // By writing, not by a time of this machine: clocks of machines differ, and the file system has one.
      overwrite(own, 'held');
    } catch {
      // The folder was deleted under us: there is nothing left to keep alive.
    }
  }, beatMs).unref();
  let released = false;
  const release = () => {
    if (released) return;
    released = true;
    clearInterval(beat);
    giveBack(folder, own);
  };
  return { release, [Symbol.dispose]: release };
}

function giveBack(folder: string, own: string): void {
  for (;;) {
    try {
      renameSync(writeDraft(folder, 'free'), own);
      return;
    } catch (error) {
      // With the folder gone there is no lock to give back.
      if (statSync(folder, { throwIfNoEntry: false }) === undefined) return;
      // ENOENT: a new holder's tidying took the draft away.
      if (hasCode(error, 'ENOENT')) continue;
      freeInPlace(own);
      return;
    }
  }
}

/** Where there is no space for another file: this one needs no more. */
function freeInPlace(own: string): void {
  try {
    overwrite(own, 'free');
  } catch {
    // It stays held until this process ends.
  }
}

/** Replaces this process's ticket by one that is as long: held or free. */
function overwrite(own: string, state: Ticket['state']): void {
  writeFileSync(own, JSON.stringify(ticketOf(state)), { flag: 'r+' });
}
