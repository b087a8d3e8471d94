import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parsedAs } from '../../../lib/json-values.ts';
import { evenIfCut } from './connection.ts';
import { keys } from './keys.ts';
import { isWriteRefusal } from './write-refusal.ts';

const Amount = z.strictObject({
  cores: z.number(),
  memory_mb: z.number(),
  gpus: z.number(),
  jobs: z.number(),
});

/** A worker's report about itself, sent every few seconds. */
export const WorkerReport = z.strictObject({
  id: z.string(),
  host: z.string(),
  pid: z.int(),
  mlab: z.string(),
  labels: z.array(z.string()),
  /** `draining`: it takes no more jobs, and stops the ones in progress. */
  state: z.enum(['working', 'draining']),
  total: Amount,
  free: Amount,
  jobs: z.array(
    z.strictObject({ kind: z.string(), experiment: z.string(), run: z.string(), seconds: z.number() }),
  ),
  /** Runs that it finished; gradings are not counted. */
  done: z.int(),
});
export type WorkerReport = z.infer<typeof WorkerReport>;

/** How long a worker without new reports is listed. */
const listedMs = 15_000;

export async function sayHello(redis: Redis, report: WorkerReport): Promise<void> {
  const key = keys.worker(report.id);
  const text = JSON.stringify(report);
  await evenIfCut(() => redis.multi().set(key, text, 'PX', listedMs).sadd(keys.workers, report.id).exec());
}

export async function sayGoodbye(redis: Redis, id: string): Promise<void> {
  await evenIfCut(() => redis.multi().del(keys.worker(id)).srem(keys.workers, id).exec());
}

/** A worker for people. */
export type SeenWorker = Omit<WorkerReport, 'state'> & {
  state: WorkerReport['state'] | 'idle';
  /** How long ago it reported. */
  seconds_ago: number;
};

export async function workersSeen(redis: Redis): Promise<SeenWorker[]> {
  const workers = await workersThere(redis);
  return await Promise.all(
    workers.map(async (worker) => {
      const left = await redis.pttl(keys.worker(worker.id));
      const isIdle = worker.state === 'working' && worker.jobs.length === 0;
      const ago = Math.round((listedMs - Math.max(0, left)) / 1000);
      return { ...worker, state: isIdle ? ('idle' as const) : worker.state, seconds_ago: ago };
    }),
  );
}

/** The active workers, sorted by host. */
export async function workersThere(redis: Redis): Promise<WorkerReport[]> {
  const ids = await redis.smembers(keys.workers);
  const texts = ids.length === 0 ? [] : await redis.mget(ids.map(keys.worker));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await forget(redis, gone);
  return texts
    .flatMap((text) => {
      const report = text === null ? null : parsedAs(WorkerReport, text);
      return report === null ? [] : [report];
    })
    .sort((one, other) => one.host.localeCompare(other.host) || one.pid - other.pid);
}

/** Whoever only looks at the workers needs no Redis that can be written to. */
async function forget(redis: Redis, gone: readonly string[]): Promise<void> {
  await redis.srem(keys.workers, ...gone).catch((error: unknown) => {
    if (!isWriteRefusal(error)) throw error;
  });
}
