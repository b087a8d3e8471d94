import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode, UserError } from '../../lib/errors.ts';
import { epochsIn, type LeaseFile, type LeaseOwner, leasesIn } from './lease-owner.ts';

/** Timing by which an owner on another machine is considered alive or dead. */
export interface LeaseTimes {
  /** How often an owner renews its lease. */
  renewMs: number;
  /** How long after a renewal an owner writes without checking its lease. Far below `silenceMs`. */
  safeMs: number;
  /** An owner that others have watched for this long without a renewal has lost its lease. */
  silenceMs: number;
}

export const leaseTimes: LeaseTimes = { renewMs: 5_000, safeMs: 10_000, silenceMs: 30_000 };

/** The process that executes a run. */
export type LeaseHolder = Pick<LeaseFile, 'pid' | 'host'>;

/** The previous owner, which did not release the lease. */
export interface LeaseBefore {
  holder: LeaseHolder | null;
  /** Whether it may still be alive, as that can't be checked from here. */
  isSilent: boolean;
}

/**
 * The right to write a run's files, held by one process at a time. Each new owner has a higher epoch, and only one
 * process can create the file of an epoch.
 *
 * An owner that renews its lease writes its file, and then checks whether there is a newer one. A process that wants to
 * follow a silent owner creates the newer file, and then checks whether the owner's file has changed. So at least one
 * of the two sees the other and steps back. Shortly after a renewal an owner need not check: nobody follows it until it
 * has been silent for much longer. After a longer silence it renews the lease before it writes, and checks again
 * afterwards. If it finds no newer file then, any later successor will find what it wrote.
 */
export class RunLease implements Disposable {
  readonly epoch: number;
  /**
   * The previous owner did not release it and may still be alive: files that it has open must not be written to any
   * more.
   */
  readonly followsSilence: boolean;
  /** The previous owner if it did not release the lease; null if none is known. */
  readonly follows: LeaseHolder | null;
  readonly #path: string;
  readonly #folder: string;
  readonly #times: LeaseTimes;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #file: LeaseFile;
  /** The time before the last renewal began. */
  #renewed: Clocks;
  #isSilent = false;
  #released = false;

  /**
   * @param file the content written to the folder
   * @param begun the time before it was written: this process may have been stopped since, and followed
   */
  constructor(
    folder: string,
    epoch: number,
    file: LeaseFile,
    before: LeaseBefore,
    times: LeaseTimes,
    begun: Clocks,
  ) {
    this.#renewed = begun;
    this.#folder = folder;
    this.epoch = epoch;
    this.#path = join(folder, String(epoch));
    this.#file = file;
    this.followsSilence = before.isSilent;
    this.follows = before.holder;
    this.#times = times;
    this.#timer = setInterval(() => this.#renewInTime(), times.renewMs).unref();
  }

  /** Aborted when this process notices that another one has the lease. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Call it before writing something, and `wrote` afterwards.
   * @throws UserError `lease_lost`
   */
  mayWrite(): void {
    this.#isSilent = this.#sinceRenewal() > this.#times.safeMs;
    if (this.#isSilent || this.#lost.signal.aborted) this.#renew();
  }

  /** @throws UserError `lease_lost` if others may not see what was written */
  wrote(): void {
    if (this.#isSilent || this.#sinceRenewal() > this.#times.safeMs) this.verify();
  }

  /**
   * Checks whether this process still has the lease.
   * @throws UserError `lease_lost`
   */
  verify(): void {
    if (this.#released) throw new Error('the lease was given back');
    if (epochsIn(this.#folder).at(-1) !== this.epoch) throw this.#loss();
  }

  get released(): boolean {
    return this.#released;
  }

  /** Releases it; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    clearInterval(this.#timer);
    try {
      this.verify();
      this.#file = { ...this.#file, state: 'free' };
      writeFileSync(this.#path, textOf(this.#file), { flag: 'r+' });
    } catch {
      // It belongs to another process, or the folder was removed.
    }
    this.#released = true;
  }

  [Symbol.dispose](): void {
    this.release();
  }

  #sinceRenewal(): number {
    const now = clocks();
    return Math.max(now.steady - this.#renewed.steady, Math.abs(now.wall - this.#renewed.wall));
  }

  /** Shows that the owner is alive, and checks whether it still is the owner. */
  #renew(): void {
    const begun = clocks();
    this.#file = { ...this.#file, renewed: (this.#file.renewed ?? 0) + 1 };
    try {
      // In place: a file of that name must not reappear once a successor has removed it.
      writeFileSync(this.#path, textOf(this.#file), { flag: 'r+' });
    } catch (error) {
      if (hasCode(error, 'ENOENT') || hasCode(error, 'ESTALE')) throw this.#loss();
      throw error;
    }
    if (this.#isSilent) showChanges(this.#folder);
    this.verify();
    this.#renewed = begun;
  }

  #renewInTime(): void {
    try {
      this.#renew();
    } catch {
      // Either it is lost, which the signal reports, or it can't be renewed now: then the next write tries again.
    }
  }

  #loss(): UserError {
    const newest = leasesIn(this.#folder).at(-1);
    const by =
      newest?.lease == null
        ? 'its folder was removed'
        : `process ${newest.lease.pid} on ${newest.lease.host} took it over (epoch ${newest.epoch}) after this one (epoch ${this.epoch}) had been silent for too long`;
    const error = new UserError(
      'lease_lost',
      `Process ${process.pid} may no longer write to ${dirname(this.#folder)}: ${by}.`,
      'Nothing is lost: the process that now executes the run resumes it from its last recorded step.',
    );
    clearInterval(this.#timer);
    if (!this.#lost.signal.aborted) this.#lost.abort(error);
    return error;
  }
}

/** One stops while a machine sleeps, the other can be set. */
interface Clocks {
  steady: number;
  wall: number;
}

export function clocks(): Clocks {
  return { steady: performance.now(), wall: Date.now() };
}

export function newLeaseFile(me: LeaseOwner): LeaseFile {
  return { state: 'held', ...me, id: randomBytes(8).toString('hex'), renewed: 0 };
}

/** Always of the same length for one owner, so that it is never written in part. */
export function textOf({ state, renewed = 0, ...owner }: LeaseFile): string {
  const text = JSON.stringify({ ...owner, state, renewed });
  return `${text}${' '.repeat(Math.max(0, JSON.stringify(owner).length + 60 - text.length))}\n`;
}

/** A network file system may cache a folder's list of files until this machine changes something in it. */
function showChanges(folder: string): void {
  const path = join(folder, `look-${randomBytes(6).toString('hex')}`);
  writeFileSync(path, '');
  rmSync(path, { force: true });
}
