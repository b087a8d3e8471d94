import type { Redis } from 'ioredis';
import pLimit from 'p-limit';
import { z } from 'zod';
import { keys } from './keys.ts';

/** The result of a job, for whoever follows it. */
export const JobEnd = z.strictObject({ problem: z.string().nullable(), worker: z.string() });
export type JobEnd = z.infer<typeof JobEnd>;

/** Commands that were cut off from Redis for longer find the results of runs in the store. */
const keptSeconds = 7 * 86_400;

/** Nothing is removed by who reads it, so that several commands can follow the same job. */
export async function tellEnds(
  redis: Redis,
  experiment: string,
  ids: readonly string[],
  end: JobEnd,
): Promise<void> {
  if (ids.length === 0) return;
  const key = keys.ends(experiment);
  await Promise.all(ids.map((id) => redis.xadd(key, '*', 'id', id, 'end', JSON.stringify(end))));
  await redis.expire(key, keptSeconds);
}

/** The results of an experiment's jobs, in the order in which they came. */
export class JobEnds {
  readonly #redis: Redis;
  readonly #key: string;
  readonly #inTurn = pLimit(1);
  /** The last that was read. */
  #last = '0-0';

  /** @param experiment as `experimentKey` names it */
  constructor(redis: Redis, experiment: string) {
    this.#redis = redis;
    this.#key = keys.ends(experiment);
  }

  /** Leaves out those that are there: they belong to earlier commands. */
  async begin(): Promise<void> {
    const [latest] = await this.#redis.xrevrange(this.#key, '+', '-', 'COUNT', 1);
    this.#last = latest?.[0] ?? '0-0';
  }

  /** Those that came since the last time: ids of jobs, and what was told of them. Each is returned once. */
  async next(): Promise<[id: string, text: string][]> {
    return await this.#inTurn(async () => {
      const [found] = (await this.#redis.xread('STREAMS', this.#key, this.#last)) ?? [];
      return (found?.[1] ?? []).map(([entry, [, id = '', , text = '']]) => {
        this.#last = entry;
        return [id, text];
      });
    });
  }
}
