import type { Redis } from 'ioredis';
import { z } from 'zod';
import { evenIfCut } from './connection.ts';
import { keys } from './keys.ts';
import { told } from './told.ts';

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

/** The active workers, sorted by host. */
export async function workersThere(redis: Redis): Promise<WorkerReport[]> {
  const ids = await redis.smembers(keys.workers);
  const texts = ids.length === 0 ? [] : await redis.mget(ids.map(keys.worker));
  const gone = ids.filter((_, index) => texts[index] === null);
  if (gone.length > 0) await redis.srem(keys.workers, ...gone);
  return texts
    .flatMap((text) => {
      const report = text === null ? null : told(WorkerReport, text);
      return report === null ? [] : [report];
    })
    .sort((one, other) => one.host.localeCompare(other.host) || one.pid - other.pid);
}
