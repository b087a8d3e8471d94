import { dollars } from '../lib/dollars.ts';
import type { CallCharge } from '../schema/index.ts';
import type { CallEstimate } from './language-models.ts';

export interface QuotaOptions {
  /** What is limited, for messages: `this run`, `the experiment`. */
  of: string;
  /** Maximum tokens, input and output together; undefined: not limited. */
  tokens?: number | undefined;
  /** Maximum US dollars; undefined: not limited. */
  money?: number | undefined;
  /** What earlier sessions used. */
  spent?: { tokens: number; money: number };
}

/** The part of a quota that is reserved for one call until it ends. */
export interface Reservation {
  /** Raises the reservation of the call to this much in all, if that fits. */
  raise(most: CallEstimate): boolean | Promise<boolean>;
  /** Ends the call with this usage. A second call does nothing. */
  settle(charge: CallCharge): void;
  /** Ends a call that used nothing. */
  release(): void;
}

export type ReserveResult =
  | { kind: 'reserved'; reservation: Reservation }
  | { kind: 'exceeded'; exceeded: 'tokens' | 'money'; message: string };

/** A quota with concurrent users: in this process, or in any number of them. */
export interface SharedQuota {
  /**
   * Reserves the maximum of a call; if calls under way prevent that, it waits for them to end.
   * @throws the signal's reason if it is aborted
   */
  reserveWhenFree(estimate: CallEstimate, signal: AbortSignal): Promise<ReserveResult>;
}

/**
 * A limit on tokens and money that calls share. A call is allowed only if the sum of what was spent, what is reserved
 * for calls under way, and the maximum of this call stays within the limits: so they are never exceeded.
 */
export class Quota implements SharedQuota {
  readonly #of: string;
  readonly #limits: { tokens: number | null; money: number | null };
  readonly #spent: { tokens: number; money: number };
  readonly #kept = { tokens: 0, money: 0 };
  #underWay = 0;
  #someCallEnded = Promise.withResolvers<void>();

  constructor({ of, tokens, money, spent = { tokens: 0, money: 0 } }: QuotaOptions) {
    this.#of = of;
    this.#limits = { tokens: tokens ?? null, money: money ?? null };
    this.#spent = { tokens: spent.tokens, money: spent.money };
  }

  get spent(): { tokens: number; money: number } {
    return { ...this.#spent };
  }

  /** What is neither spent nor reserved; null if not limited. */
  get left(): { tokens: number | null; money: number | null } {
    const { tokens, money } = this.#limits;
    return {
      tokens: tokens === null ? null : Math.max(0, tokens - this.#spent.tokens - this.#kept.tokens),
      money: money === null ? null : Math.max(0, money - this.#spent.money - this.#kept.money),
    };
  }

  reserve(estimate: CallEstimate): ReserveResult {
    const refusal = this.#refusal(estimate, this.#kept);
    if (refusal !== null) return refusal;
    return { kind: 'reserved', reservation: this.#keep(estimate) };
  }

  /**
   * As `reserve`, but if calls under way prevent it, it waits for them to end: most use far less than was reserved.
   * @throws the signal's reason if it is aborted
   */
  async reserveWhenFree(estimate: CallEstimate, signal: AbortSignal): Promise<ReserveResult> {
    for (;;) {
      signal.throwIfAborted();
      const result = this.reserve(estimate);
      const isForGood = this.#refusal(estimate, { tokens: 0, money: 0 }) !== null || this.#underWay === 0;
      if (result.kind === 'reserved' || isForGood) return result;
      await untilAborted(this.#someCallEnded.promise, signal);
    }
  }

  #refusal(
    { tokens, money }: CallEstimate,
    kept: { tokens: number; money: number },
  ): Extract<ReserveResult, { kind: 'exceeded' }> | null {
    const { tokens: maxTokens, money: maxMoney } = this.#limits;
    if (maxTokens !== null && this.#spent.tokens + kept.tokens + tokens > maxTokens) {
      const left = Math.max(0, maxTokens - this.#spent.tokens - kept.tokens);
      const message = `${this.#of} may use ${maxTokens} tokens; ${left} ${left === 1 ? 'is' : 'are'} left, and the next call may need ${tokens}`;
      return { kind: 'exceeded', exceeded: 'tokens', message };
    }
    if (maxMoney === null) return null;
    if (money === null) {
      const message = `${this.#of} may cost ${dollars(maxMoney)}, but the price of the model is not known: give it under "prices" in the experiment file`;
      return { kind: 'exceeded', exceeded: 'money', message };
    }
    if (this.#spent.money + kept.money + money <= maxMoney) return null;
    const left = dollars(Math.max(0, maxMoney - this.#spent.money - kept.money));
    const message = `${this.#of} may cost ${dollars(maxMoney)}; ${left} is left, and the next call may cost ${dollars(money)}`;
    return { kind: 'exceeded', exceeded: 'money', message };
  }

  #keep({ tokens, money }: CallEstimate): Reservation {
    const kept = { tokens, money: money ?? 0 };
    this.#kept.tokens += kept.tokens;
    this.#kept.money += kept.money;
    this.#underWay += 1;
    let isOver = false;
    const end = (used: { tokens: number; money: number }) => {
      if (isOver) return;
      isOver = true;
      this.#underWay -= 1;
      this.#kept.tokens -= kept.tokens;
      // Sums of decimal fractions leave a remainder; nothing is reserved if nothing is under way.
      this.#kept.money = this.#underWay === 0 ? 0 : Math.max(0, this.#kept.money - kept.money);
      this.#spent.tokens += used.tokens;
      this.#spent.money += used.money;
      this.#someCallEnded.resolve();
      this.#someCallEnded = Promise.withResolvers<void>();
    };
    return {
      raise: ({ tokens, money }) => {
        const more = {
          tokens: Math.max(0, tokens - kept.tokens),
          money: money === null ? null : Math.max(0, money - kept.money),
        };
        if (isOver || this.#refusal(more, this.#kept) !== null) return false;
        for (const sum of [kept, this.#kept]) {
          sum.tokens += more.tokens;
          sum.money += more.money ?? 0;
        }
        return true;
      },
      settle: ({ usage, cost }) => end({ tokens: usage.input + usage.output, money: cost ?? 0 }),
      release: () => end({ tokens: 0, money: 0 }),
    };
  }
}

async function untilAborted(promise: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
