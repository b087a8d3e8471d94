import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { hasCode, UserError } from '../../lib/errors.ts';
import { epochsIn, type LeaseFile, type LeaseOwner, leasesIn } from './lease-owner.ts';

/** How an owner that is on another machine is told from one that died. */
export interface LeaseTimes {
  /** How often an owner says that it is there. */
  renewMs: number;
  /** For so long after it last said so, an owner writes without a look at its lease. Far below `silenceMs`. */
  safeMs: number;
  /** An owner that others have watched for so long, and that said nothing, has lost its lease. */
  silenceMs: number;
}

export const leaseTimes: LeaseTimes = { renewMs: 5_000, safeMs: 10_000, silenceMs: 30_000 };

/** Who has a run. */
export type LeaseHolder = Pick<LeaseFile, 'pid' | 'host'>;

/** The owner before who did not give the lease back. */
export interface LeaseBefore {
  holder: LeaseHolder | null;
  /** Whether it may still be there: it can't be looked up from here. */
  isSilent: boolean;
}

/**
 * The right to write a run's files, held by one process at a time. Each new owner has a higher epoch, whose file it alone can make.
 *
 * An owner that renews its lease writes its file, and then looks whether there is a newer one; who wants to follow a silent owner makes
 * the newer file, and then looks whether the owner's file has changed. So at least one of the two sees the other, and
 * steps back. Shortly after a renewal an owner needs no look: nobody follows it before it was silent for much longer.
 * After a longer silence it renews before it writes, and looks again afterwards: finding no newer file then, it knows that
 * a successor, if there ever is one, will find what it wrote.
 */
export class RunLease implements Disposable {
  readonly epoch: number;
  /** The owner before did not give it back and may still be there: what it has open must not be written to any more. */
  readonly followsSilence: boolean;
  /** Who had it before and did not give it back; null where nobody is known. */
  readonly follows: LeaseHolder | null;
  readonly #path: string;
  readonly #folder: string;
  readonly #times: LeaseTimes;
  readonly #lost = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #file: LeaseFile;
  /** Before the last renewal was begun, by both clocks: one stands still while a machine sleeps, one may be set. */
  #renewed = clocks();
  #isSilent = false;
  #released = false;

  /** @param file as it was just written to the folder */
  constructor(folder: string, epoch: number, file: LeaseFile, before: LeaseBefore, times: LeaseTimes) {
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
   * To be called before something is written; `wrote` afterwards.
   * @throws UserError `lease_lost`
   */
  mayWrite(): void {
    this.#isSilent = this.#sinceRenewal() > this.#times.safeMs;
    if (this.#isSilent || this.#lost.signal.aborted) this.#renew();
  }

  /** @throws UserError `lease_lost` where it is not certain that others find what was written */
  wrote(): void {
    if (this.#isSilent || this.#sinceRenewal() > this.#times.safeMs) this.verify();
  }

  /** Looks whether the lease is still this process's. @throws UserError `lease_lost` */
  verify(): void {
    if (this.#released) throw new Error('the lease was given back');
    if (epochsIn(this.#folder).at(-1) !== this.epoch) throw this.#loss();
  }

  get released(): boolean {
    return this.#released;
  }

  /** Gives it back; a second call does nothing. */
  release(): void {
    if (this.#released) return;
    clearInterval(this.#timer);
    try {
      this.verify();
      this.#file = { ...this.#file, state: 'free' };
      writeFileSync(this.#path, textOf(this.#file), { flag: 'r+' });
    } catch {
      // It is another's, or the folder is gone.
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

  /** Says that its owner is there, and sees whether it still is the owner. */
  #renew(): void {
    const begun = clocks();
    this.#file = { ...this.#file, renewed: (this.#file.renewed ?? 0) + 1 };
    try {
      // In place: a file of that name must not come back once a successor has removed it.
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
      // Either it is lost, which the signal says, or it can't be renewed now: then what is written next tries again.
    }
  }

  #loss(): UserError {
    const newest = leasesIn(this.#folder).at(-1);
    const by =
      newest?.lease == null
        ? 'its folder is gone'
        : `process ${newest.lease.pid} on ${newest.lease.host} took it over (epoch ${newest.epoch}) after this one (epoch ${this.epoch}) had been silent for too long`;
    const error = new UserError(
      'lease_lost',
      `Process ${process.pid} may no longer write to ${dirname(this.#folder)}: ${by}.`,
      'Nothing is lost: the process that has the run now resumes it from its last recorded step.',
    );
    clearInterval(this.#timer);
    if (!this.#lost.signal.aborted) this.#lost.abort(error);
    return error;
  }
}

function clocks(): { steady: number; wall: number } {
  return { steady: performance.now(), wall: Date.now() };
}

export function newLeaseFile(me: LeaseOwner): LeaseFile {
  return { state: 'held', ...me, id: randomBytes(8).toString('hex'), renewed: 0 };
}

/** Always of the same length for one owner, so that a part of it is never written. */
export function textOf({ state, renewed = 0, ...owner }: LeaseFile): string {
  const text = JSON.stringify({ ...owner, state, renewed });
  return `${text}${' '.repeat(Math.max(0, JSON.stringify(owner).length + 60 - text.length))}\n`;
}

/** A network file system may answer from memory what lies in a folder, until this machine changes something in it. */
function showChanges(folder: string): void {
  const path = join(folder, `look-${randomBytes(6).toString('hex')}`);
  writeFileSync(path, '');
  rmSync(path, { force: true });
}
