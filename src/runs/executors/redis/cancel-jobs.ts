import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Cancellation } from '../executor-kind.ts';
import { JobQueue } from './job-queue.ts';
import { experimentKey, keys } from './keys.ts';

const pollMs = 200;
const cancelMs = 15_000;
/** For how long workers that were cut off are told; the next command that submits jobs ends it. */
const toldSeconds = 3_600;

/**
 * Removes the queued jobs of an experiment, and has workers stop those in progress.
 * @param experiment its folder
 * @param runs default: all
 */
export async function cancelQueued(
  redis: Redis,
  experiment: string,
  runs?: ReadonlySet<string>,
): Promise<Cancellation> {
  await using queue = new JobQueue(redis);
  const key = experimentKey(experiment);
  if (runs === undefined) await redis.set(keys.cancelled(key), '1', 'EX', toldSeconds);
  else {
    await redis.sadd(keys.cancelledRuns(key), ...runs);
    await redis.expire(keys.cancelledRuns(key), toldSeconds);
  }
  const { jobs, active } = await queue.removeAll(key, runs);
  const patience = AbortSignal.timeout(cancelMs);
  let ending = active;
  // A command that submits jobs may add some before it learns of this.
  while (ending > 0 && !patience.aborted) {
    await sleep(pollMs);
    ending = (await queue.removeAll(key, runs)).active;
  }
  return { jobs, ending, problem: null };
}
