import type { CallCharge } from '../../schema/index.ts';
import type { CallEstimate } from '../language-models.ts';
import type { Quota, Reservation, SharedQuota } from '../quota.ts';
import type { OverQuota } from './caller.ts';

/** What is reserved in the quotas for one call, until it is over. */
export class CallReservation implements Disposable {
  readonly #reservations: readonly Reservation[];

  constructor(reservations: readonly Reservation[]) {
    this.#reservations = reservations;
  }

  /** Reserves this much for the whole call, if it fits. */
  async raise(most: CallEstimate): Promise<boolean> {
    for (const reservation of this.#reservations) if (!(await reservation.raise(most))) return false;
    return true;
  }

  settle(charge: CallCharge): void {
    for (const reservation of this.#reservations) reservation.settle(charge);
  }

  /** If the call was charged, nothing is left to release. */
  [Symbol.dispose](): void {
    for (const reservation of this.#reservations) reservation.release();
  }
}

/** The caller's own quota, and the quota that it shares with others, if there is one. */
export class CallQuotas {
  readonly #own: Quota;
  readonly #shared: SharedQuota | null;

  constructor(own: Quota, shared: SharedQuota | null) {
    this.#own = own;
    this.#shared = shared;
  }

  /**
   * Reserves the most that a call can cost. If calls in progress leave too little, waits for their end.
   * @param waited called with the time that others' calls take
   * @throws the signal's reason if it is aborted
   */
  async reserve(
    most: CallEstimate,
    signal: AbortSignal,
    waited: (until: Promise<unknown>) => void,
  ): Promise<CallReservation | OverQuota> {
    const own = await this.#own.reserveWhenFree(most, signal);
    if (own.kind === 'exceeded') return { ...own, kind: 'over_quota', quota: 'own' };
    if (this.#shared === null) return new CallReservation([own.reservation]);
    try {
      const free = this.#shared.reserveWhenFree(most, signal);
      waited(free);
      const shared = await free;
      if (shared.kind === 'reserved') return new CallReservation([own.reservation, shared.reservation]);
      own.reservation.release();
      return { ...shared, kind: 'over_quota', quota: 'shared' };
    } catch (error) {
      own.reservation.release();
      throw error;
    }
  }
}
