import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { hasCode } from './errors.ts';
import { namesIn } from './files-there.ts';
import { linkDraft } from './new-file.ts';
import { isProcessAlive, machineIdentity, processStartTime } from './process-identity.ts';

/**
 * A lock between processes, kept as a folder of numbered tickets. The holder is the highest ticket, unless its process
 * has died; the process that creates the next number (as a hard link of a draft, which fails if the name exists) holds
 * the lock next. A process that wants the lock first writes its draft, and then reads the tickets; the holder removes
 * all older drafts. So nobody can follow a ticket that was already followed, and of two processes that see the same
 * dead holder only one can follow it. Releasing the lock leaves nothing; after a kill -9 the next holder cleans up.
 */
export interface FileLock extends Disposable {
  /** Releases the lock; a second call does nothing. */
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
   * Processes of another machine (or container) can't be looked up: such a holder is considered dead after this many
   * milliseconds without a beat. Default: 30,000.
   */
  silenceMs?: number;
}

const Ticket = z.object({
  /** `free`: written by earlier versions. */
  state: z.enum(['held', 'free']),
  pid: z.int(),
  started: z.string().nullable(),
  machine: z.string(),
  host: z.string(),
});
type Ticket = z.infer<typeof Ticket>;

const beatMs = 5_000;
const defaultSilenceMs = 30_000;
/** Attempts to write a draft into a folder that others remove and recreate. */
const maxAttempts = 1000;

/**
 * Takes the lock at `folder` (created if missing, with its parents) if nobody holds it, without waiting; else returns
 * its holder. A holder on another machine counts as alive while its last beat is younger than 30 s by the clock of the
 * file system.
 * @throws file-system errors if the folder can't be written
 */
export function tryFileLock(folder: string): { lock: FileLock } | { holder: LockHolder } {
  for (;;) {
    const taken = takeIfFree(folder, (number, now) => now - lastBeat(folder, number) > defaultSilenceMs);
    if (taken !== null) return taken;
  }
}

function holderOf({ pid, host }: Ticket): LockHolder {
  return { pid, host };
}

/**
 * Waits for the lock at `folder` (created if missing, with its parents) and takes it.
 * @throws the signal's reason if aborted while waiting; file-system errors if the folder can't be written.
 */
export async function acquireFileLock(folder: string, options: LockOptions = {}): Promise<FileLock> {
  const watched = new Silence(options.silenceMs ?? defaultSilenceMs);
  const isSilent = (number: number) => watched.isSilent(number, lastBeat(folder, number));
  let announced = 0;
  let pauseMs = 20;
  for (;;) {
    options.signal?.throwIfAborted();
    const highest = highestTicket(folder);
    const holder = highest === 0 ? null : readTicket(folder, highest);
    if (holder === null || !isHeld(holder, () => isSilent(highest))) {
      const taken = takeIfFree(folder, isSilent);
      if (taken !== null && 'lock' in taken) return taken.lock;
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

/**
 * Null: it disappeared after the folder was listed. A ticket that can't be read counts as held elsewhere, until it is
 * silent.
 */
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

/** @param isSilent whether the last beat of a holder that can't be looked up from here is too old */
function isHeld(ticket: Ticket, isSilent: () => boolean): boolean {
  if (ticket.state === 'free') return false;
  if (ticket.machine === machineIdentity()) return isProcessAlive(ticket.pid, ticket.started);
  return !isSilent();
}

function lastBeat(folder: string, number: number): number {
  return statSync(join(folder, String(number)), { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/**
 * Measures by this process's own clock how long a file's time stamp has not changed, because clocks of machines differ.
 */
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

/**
 * Takes the lock if nobody holds it, else returns its holder; null if another process was faster.
 * @param isSilent receives a ticket's number, and the time by the clock of the file system in ms
 */
function takeIfFree(
  folder: string,
  isSilent: (number: number, now: number) => boolean,
): { lock: FileLock } | { holder: LockHolder } | null {
  const draft = writeDraft(folder);
  try {
    // Only after the draft was written: see above.
    const highest = highestTicket(folder);
    const before = highest === 0 ? 'nobody' : readTicket(folder, highest);
    // A ticket that disappeared meanwhile was followed, or released: others may have begun to count anew.
    if (before === null) return null;
    if (before !== 'nobody' && isHeld(before, () => isSilent(highest, statSync(draft.path).mtimeMs)))
      return { holder: holderOf(before) };
    const own = join(folder, String(highest + 1));
    if (!linkDraft(draft.path, own, draft.text)) return null;
    // Without hard links, a ticket can be written though a new holder's cleanup removed the draft.
    const isCurrent = existsSync(draft.path) && highestTicket(folder) === highest + 1;
    if (isCurrent) return { lock: heldLock(folder, highest + 1, draft.text) };
    rmSync(own, { force: true });
    return null;
  } catch (error) {
    // A new holder's cleanup removed the draft.
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  } finally {
    rmSync(draft.path, { force: true });
    removeIfEmpty(folder);
  }
}

/** Creates the folder if it is missing; a holder that releases the lock may remove it at any time. */
function writeDraft(folder: string): { path: string; text: string } {
  const id = randomBytes(6).toString('hex');
  const ticket: Ticket & { id: string } = {
    state: 'held',
    pid: process.pid,
    started: processStartTime(process.pid),
    machine: machineIdentity(),
    host: hostname(),
    id,
  };
  const draft = { path: join(folder, `draft-${process.pid}-${id}`), text: JSON.stringify(ticket) };
  for (let attempt = 1; ; attempt++) {
    try {
      makeFolder(folder);
      writeFileSync(draft.path, draft.text, { flag: 'wx' });
      return draft;
    } catch (error) {
      if (!hasCode(error, 'ENOENT') || attempt === maxAttempts) throw error;
    }
  }
}

/** One level after the other: Node's recursive call says of a read-only file system that the folder does not exist. */
function makeFolder(folder: string, isLastTry = false): void {
  try {
    mkdirSync(folder);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return;
    if (isLastTry || !hasCode(error, 'ENOENT') || dirname(folder) === folder) throw error;
    makeFolder(dirname(folder));
    makeFolder(folder, true);
  }
}

function heldLock(folder: string, number: number, text: string): FileLock {
  const own = join(folder, String(number));
  for (const name of readdirSync(folder)) {
    if (name.startsWith('draft-') || Number(name) < number) rmSync(join(folder, name), { force: true });
  }
  // A holder that was considered dead no longer holds it, and another process's ticket may have the number by now.
  const isOwn = () => textOf(own) === text;
  const beat = setInterval(() => {
    try {
      // Written rather than touched with this machine's time: clocks of machines differ, and the file system has one.
      if (isOwn()) writeFileSync(own, text, { flag: 'r+' });
    } catch {
      // The folder was deleted: there is nothing left to keep alive.
    }
  }, beatMs).unref();
  let released = false;
  const release = () => {
    if (released) return;
    released = true;
    clearInterval(beat);
    if (isOwn()) rmSync(own, { force: true });
    removeIfEmpty(folder);
  };
  return { release, [Symbol.dispose]: release };
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].some((code) => hasCode(error, code))) throw error;
  }
}
