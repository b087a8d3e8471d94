import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import type {
  CallEstimate,
  CallPace,
  Reservation,
  ReserveResult,
  SharedQuota,
} from '../../../models/index.ts';
import type { ExperimentQuota } from '../../../schema/index.ts';
import { abortable } from './connection.ts';
import { keys } from './keys.ts';
import { beginScript, paceScript, reserveScript, settleScript } from './scripts.ts';

/** Sums are whole numbers, in billionths of a dollar. */
const perDollar = 1e9;
const pollMs = 250;
/** A worker that has been silent for so long after its report expired does not come back with its calls. */
const deadAfterMs = 60_000;

const Reserved = z.union([
  z.tuple([z.enum(['reserved', 'wait', 'unknown'])]),
  z.tuple([z.literal('exceeded'), z.enum(['tokens', 'money']), z.coerce.number()]),
]);

export interface FleetQuotaOptions {
  redis: Redis;
  /** As `experimentKey` names it. */
  experiment: string;
  worker: string;
  limits: ExperimentQuota;
  /** What was spent, according to the store. */
  spent: () => { tokens: number; money: number };
  deadAfterMs?: number;
}

/** What all runs of an experiment may use together, wherever they are executed; counted in Redis. */
export class FleetQuota implements SharedQuota {
  readonly #options: FleetQuotaOptions;
  /** Calls that are over but not yet settled. */
  readonly #settling = new Set<Promise<unknown>>();

  constructor(options: FleetQuotaOptions) {
    this.#options = options;
  }

  /** Also counts what was spent elsewhere, such as before the first worker began. */
  async begin(): Promise<void> {
    const { tokens, money } = this.#options.spent();
    await this.#evaluate(beginScript, [tokens, Math.ceil(money * perDollar)]);
  }

  async reserveWhenFree(estimate: CallEstimate, signal: AbortSignal): Promise<ReserveResult> {
    const { money: most } = this.#options.limits;
    if (most !== undefined && estimate.money === null) {
      const message = `the experiment may cost $${most}, but the price of the model is not known: give it under "prices" in the experiment file`;
      return { kind: 'exceeded', exceeded: 'money', message };
    }
    const call = randomUUID();
    try {
      for (;;) {
        signal.throwIfAborted();
        const result = await abortable(this.#reserve(call, estimate), signal);
        if (result[0] === 'reserved') return { kind: 'reserved', reservation: this.#reservation(call) };
        if (result[0] === 'exceeded') return this.#exceeded(result[1], result[2], estimate);
        if (result[0] === 'unknown') await abortable(this.begin(), signal);
        else await sleep(pollMs * (0.5 + Math.random()), undefined, { signal });
      }
    } catch (error) {
      // It is unknown whether the reservation was made.
      this.#settle(call, 0, 0);
      signal.throwIfAborted();
      throw error;
    }
  }

  /** Waits until Redis knows of the end of all calls. */
  async settled(): Promise<void> {
    await Promise.all(this.#settling);
  }

  #reservation(call: string): Reservation {
    let isOver = false;
    const end = (tokens: number, money: number) => {
      if (isOver) return;
      isOver = true;
      this.#settle(call, tokens, money);
    };
    return {
      raise: async (most) => !isOver && (await this.#reserve(call, most))[0] === 'reserved',
      settle: ({ usage, cost }) => end(usage.input + usage.output, cost ?? 0),
      release: () => end(0, 0),
    };
  }

  /** Until Redis has received this, the call's whole reservation counts. */
  #settle(call: string, tokens: number, money: number): void {
    const told = this.#evaluate(settleScript, [call, tokens, Math.ceil(money * perDollar)]).catch(() => {});
    this.#settling.add(told);
    void told.then(() => this.#settling.delete(told));
  }

  async #reserve(call: string, { tokens, money }: CallEstimate) {
    const { worker, limits } = this.#options;
    const maxMoney = limits.money === undefined ? -1 : Math.floor(limits.money * perDollar);
    return Reserved.parse(
      await this.#evaluate(reserveScript, [
        ...[call, worker, tokens, Math.ceil((money ?? 0) * perDollar), limits.tokens ?? -1, maxMoney],
        ...[keys.worker(''), this.#options.deadAfterMs ?? deadAfterMs],
      ]),
    );
  }

  #exceeded(exceeded: 'tokens' | 'money', left: number, estimate: CallEstimate): ReserveResult {
    const { tokens, money } = this.#options.limits;
    const message =
      exceeded === 'tokens'
        ? `the experiment may use ${tokens} tokens; ${left} are left, and the next call may need ${estimate.tokens}`
        : `the experiment may cost $${money}; $${(left / perDollar).toFixed(4)} are left, and the next call may cost $${estimate.money?.toFixed(4)}`;
    return { kind: 'exceeded', exceeded, message };
  }

  async #evaluate(script: string, values: readonly (string | number)[]): Promise<unknown> {
    const { redis, experiment } = this.#options;
    return await redis.eval(script, 2, keys.quota(experiment), keys.holds(experiment), ...values);
  }
}

/** Waits until a call may begin under the rate limit that all workers share. */
export async function keepFleetPace(
  redis: Redis,
  provider: string,
  pace: CallPace,
  signal: AbortSignal,
): Promise<void> {
  for (;;) {
    const asked = redis.eval(paceScript, 1, keys.pace(provider), pace.calls, pace.milliseconds);
    const waitMs = z.number().parse(await abortable(asked, signal));
    if (waitMs === 0) return;
    await sleep(waitMs + Math.random() * pollMs, undefined, { signal });
  }
}
