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
import { beginScript, limitScript, paceScript, reserveScript, settleScript } from './scripts.ts';

/** Sums are whole numbers, in billionths of a dollar. */
const perDollar = 1e9;
const pollMs = 250;
/** A worker that has been silent for so long after its report expired does not come back with its calls. */
const deadAfterMs = 60_000;

const Reserved = z.union([
  z.tuple([z.enum(['reserved', 'wait', 'unknown'])]),
  z.tuple([z.literal('exceeded'), z.enum(['tokens', 'money']), z.coerce.number(), z.coerce.number()]),
  z.tuple([z.literal('unpriced'), z.coerce.number()]),
]);

export interface FleetQuotaOptions {
  redis: Redis;
  /** As `experimentKey` names it. */
  experiment: string;
  worker: string;
  /** Of a job, or of the command; the limits that the last command set come first. */
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

  /** Makes its limits those of the experiment, for jobs that were given earlier as well. */
  async limit(): Promise<void> {
    const { redis, experiment } = this.#options;
    await redis.eval(limitScript, 1, keys.quota(experiment), ...this.#limits());
  }

  async reserveWhenFree(estimate: CallEstimate, signal: AbortSignal): Promise<ReserveResult> {
    const call = randomUUID();
    try {
      for (;;) {
        signal.throwIfAborted();
        const result = await abortable(this.#reserve(call, estimate), signal);
        if (result[0] === 'reserved') return { kind: 'reserved', reservation: this.#reservation(call) };
        if (result[0] === 'unpriced') return unpriced(result[1]);
        if (result[0] === 'exceeded') return exceeded(result[1], result[2], result[3], estimate);
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
    const { worker } = this.#options;
    const mostMoney = money === null ? -1 : Math.ceil(money * perDollar);
    return Reserved.parse(
      await this.#evaluate(reserveScript, [
        ...[call, worker, tokens, mostMoney, ...this.#limits()],
        ...[keys.worker(''), this.#options.deadAfterMs ?? deadAfterMs],
      ]),
    );
  }

  /** As the scripts read them. */
  #limits(): [tokens: number, money: number] {
    const { tokens, money } = this.#options.limits;
    return [tokens ?? -1, money === undefined ? -1 : Math.floor(money * perDollar)];
  }

  async #evaluate(script: string, values: readonly (string | number)[]): Promise<unknown> {
    const { redis, experiment } = this.#options;
    return await redis.eval(script, 2, keys.quota(experiment), keys.holds(experiment), ...values);
  }
}

function exceeded(
  what: 'tokens' | 'money',
  left: number,
  most: number,
  estimate: CallEstimate,
): ReserveResult {
  const message =
    what === 'tokens'
      ? `the experiment may use ${most} tokens; ${left} are left, and the next call may need ${estimate.tokens}`
      : `the experiment may cost $${most / perDollar}; $${(left / perDollar).toFixed(4)} are left, and the next call may cost $${estimate.money?.toFixed(4)}`;
  return { kind: 'exceeded', exceeded: what, message };
}

function unpriced(most: number): ReserveResult {
  const message = `the experiment may cost $${most / perDollar}, but the price of the model is not known: give it under "prices" in the experiment file`;
  return { kind: 'exceeded', exceeded: 'money', message };
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
