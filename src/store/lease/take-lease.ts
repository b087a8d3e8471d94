import { accessSync, constants, existsSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, UserError } from '../../lib/errors.ts';
import { createFileExclusively } from '../documents.ts';
import { fileTimeNow } from './file-time.ts';
import {
  epochsIn,
  type FoundLease,
  type LeaseOwner,
  leasesIn,
  type OwnerState,
  stateOf,
  thisProcess,
} from './lease-owner.ts';
import {
  clocks,
  type LeaseHolder,
  type LeaseTimes,
  leaseTimes,
  newLeaseFile,
  RunLease,
  textOf,
} from './run-lease.ts';

/** Folder of the leases in a run's folder. */
export const leaseName = 'lease';
/** Where earlier versions recorded which process executes a run. */
export const formerLockName = 'lock';

export interface TakeLeaseOptions {
  signal?: AbortSignal | undefined;
  /** Called once if a silent owner has to be watched for a while. */
  onWait?: ((holder: LeaseHolder) => void) | undefined;
  times?: LeaseTimes;
  /** The identity of this process for others; settable for tests. */
  me?: LeaseOwner;
}

/** More than any difference between two clocks of file systems. */
const surelySilentMs = 3_600_000;
/** How long `leaseHolder`, which does not watch, tolerates silence. */
const probablySilentMs = 30_000;
const maxAttempts = 1000;

/**
 * Takes the lease of a run. An owner on this machine is looked up; one on another machine is watched until it renews
 * its lease, or has been silent for too long by this process's own clock.
 * @param run the run's folder
 * @throws UserError `run_locked` if another process has it; the signal's reason
 */
export async function takeLease(run: string, options: TakeLeaseOptions = {}): Promise<RunLease> {
  const { signal, onWait, times = leaseTimes, me = thisProcess() } = options;
  let watched: { text: string; since: number } | null = null;
  for (;;) {
    signal?.throwIfAborted();
    const found = readState(run, me);
    if (found.state === 'alive') throw refusal(run, found.holder);
    const text = textsOf(found.leases);
    const begins = found.state === 'unknown' && watched === null && !isSurelySilent(found);
    if (begins && found.holder !== null) onWait?.(found.holder);
    if (found.state === 'unknown' && watched !== null && watched.text !== text)
      throw refusal(run, found.holder);
    watched ??= { text, since: performance.now() };
    const watchedMs = performance.now() - watched.since;
    if (found.state !== 'unknown' || watchedMs > times.silenceMs || isSurelySilent(found)) {
      const lease = follow(run, found, me, times);
      if (lease !== null) return lease;
      watched = null;
    }
    await sleep(Math.min(times.renewMs / 5, 1000), undefined, { ...(signal ? { signal } : {}) });
  }
}

/**
 * The same without waiting: an owner that can't be looked up from here counts as alive.
 * @throws UserError `run_locked`
 */
export function takeLeaseNow(run: string): RunLease {
  const me = thisProcess();
  for (let attempt = 1; ; attempt++) {
    const found = readState(run, me);
    const isHeld = found.state === 'alive' || (found.state === 'unknown' && !isSurelySilent(found));
    if (isHeld) throw refusal(run, found.holder);
    const lease = follow(run, found, me, leaseTimes);
    if (lease !== null) return lease;
    if (attempt === maxAttempts) throw refusal(run, readState(run, me).holder);
  }
}

/**
 * The process that executes the run now; null if none does. An owner elsewhere counts as dead if its last renewal is
 * old by the clock of the files.
 */
export function leaseHolder(run: string): LeaseHolder | null {
  const { state, holder, writtenMs } = readState(run, thisProcess());
  const isSilent = () => fileTimeNow(join(run, leaseName)) - writtenMs >= probablySilentMs;
  const isHeld = state === 'alive' || (state === 'unknown' && !isSilent());
  return isHeld ? holder : null;
}

/**
 * Leaves a lease that nobody holds, so that the next owner of the run has a higher epoch. Does nothing if somebody
 * holds it.
 */
export function leaveFreeLease(run: string, epoch: number): void {
  const { newest, state } = readState(run, thisProcess());
  if (newest >= epoch || severity[state] > severity.dead) return;
  createLease(join(run, leaseName, String(epoch)), textOf({ ...newLeaseFile(thisProcess()), state: 'free' }));
}

interface LeaseState {
  state: OwnerState;
  /** Of this version and of former ones; newest last. */
  leases: FoundLease[];
  /** Epoch of the newest; 0 if there never was one. */
  newest: number;
  /** The process that keeps it from being free. */
  holder: LeaseHolder | null;
  /** When that process last renewed it. */
  writtenMs: number;
}

function readState(run: string, me: LeaseOwner): LeaseState {
  const current = leasesIn(join(run, leaseName));
  const leases = [...leasesIn(join(run, formerLockName)), ...current];
  let seen: LeaseState = {
    state: 'free',
    leases,
    newest: current.at(-1)?.epoch ?? 0,
    holder: null,
    writtenMs: 0,
  };
  for (const { lease, writtenMs } of leases) {
    if (lease === null) continue;
    const state = stateOf(lease, me);
    if (severity[state] >= severity[seen.state]) seen = { ...seen, state, holder: lease, writtenMs };
  }
  return seen;
}

function isSurelySilent({ writtenMs }: LeaseState): boolean {
  return Date.now() - writtenMs > surelySilentMs;
}

const severity: Record<OwnerState, number> = { free: 0, dead: 1, unknown: 2, alive: 3 };

/** Creates the next epoch. Null if another process was faster, or one that was considered silent is not. */
function follow(run: string, before: LeaseState, me: LeaseOwner, times: LeaseTimes): RunLease | null {
  const folder = join(run, leaseName);
  const epoch = before.newest + 1;
  const path = join(folder, String(epoch));
  const file = newLeaseFile(me);
  const begun = clocks();
  if (!createLease(path, textOf(file))) return null;
  const others = readState(run, me).leases.filter(({ text }) => text !== textOf(file));
  if (epochsIn(folder).at(-1) !== epoch || textsOf(others) !== textsOf(before.leases)) {
    rmSync(path, { force: true });
    return null;
  }
  removeEarlier(folder, epoch);
  rmSync(join(run, formerLockName), { recursive: true, force: true });
  const { state } = before;
  const holder = state === 'free' ? null : before.holder;
  return new RunLease(folder, epoch, file, { holder, isSilent: state === 'unknown' }, times, begun);
}

function createLease(path: string, text: string): boolean {
  try {
    return createFileExclusively(path, text, { flush: false });
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
    // Node says this of a read-only file system, too.
    requireWritable(dirname(dirname(path)));
    // A new owner removed it.
    return false;
  }
}

/** @throws Error of the file system, such as EROFS, if nothing can be made there */
function requireWritable(folder: string): void {
  if (existsSync(folder)) accessSync(folder, constants.W_OK);
  else requireWritable(dirname(folder));
}

/** Earlier leases, and drafts left by killed processes. This process may have been stopped, and followed, meanwhile. */
function removeEarlier(folder: string, epoch: number): void {
  for (const name of readdirSync(folder))
    if (!(Number(name) >= epoch)) rmSync(join(folder, name), { force: true });
}

/** Former versions renewed a lock by writing the same content again. */
function textsOf(leases: readonly FoundLease[]): string {
  return JSON.stringify(
    leases.map(({ epoch, text, lease, writtenMs }) => [
      epoch,
      text,
      lease?.renewed === undefined ? writtenMs : 0,
    ]),
  );
}

function refusal(run: string, holder: LeaseHolder | null): UserError {
  const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
  return new UserError(
    'run_locked',
    `${who} is working on ${run}.`,
    'Wait until it has finished, or stop it.',
  );
}
