import type { Redis } from 'ioredis';
import { messageOf, UserError } from '../../../lib/errors.ts';
import { sentence } from '../../../lib/sentence.ts';
import { Capacity } from '../../jobs/capacity.ts';
import type { JobResult } from '../../jobs/job-result.ts';
import type { Queued } from './job-queue.ts';
import { experimentKey, jobId, keys } from './keys.ts';
import { type WorkerReport, workersThere } from './workers.ts';

/** Why a worker can never execute a job; null if it can. */
export function whyNever({ total, labels }: WorkerReport, { job, labels: wanted }: Queued): string | null {
  const missing = wanted.find((label) => !labels.includes(label));
  return missing === undefined
    ? new Capacity(total).whyNever(job.resources)
    : `it needs the label ${missing}`;
}

/** Causes of failures that say nothing about the job, if its run has taken no step. */
const failuresHere: readonly string[] = ['sandbox', 'disk_full', 'gpu_unusable'];

/** Errors of a worker's machine, or of one that is set up differently, which say nothing about the job. */
const refusals: ReadonlySet<string> = new Set([
  ...['other_mlab', 'task_changed', 'data_differs', 'unknown_task', 'no_experiment', 'no_artifact_store'],
  ...['no_s3_library', 'agent_not_found', 'key_missing', 'no_gpu', 'no_python', 'no_venv'],
  ...['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT'],
  ...failuresHere,
]);

/** The reason to leave a job to others though its run has a result here; null if there is none. */
export function refusalIn({ record }: JobResult): UserError | null {
  const { end, steps } = record ?? {};
  if (end?.cause === undefined || !failuresHere.includes(end.cause) || steps !== 0) return null;
  return new UserError(end.cause, end.message, '');
}

export function isRefusal(error: unknown): error is { code: string } {
  return error instanceof Error && 'code' in error && refusals.has(String(error.code));
}

/** What happened, and what to do about it. */
export function adviceOf(error: unknown): string {
  const what = messageOf(error);
  return UserError.isInstance(error) ? `${sentence(what)} ${error.hint}`.trimEnd() : what;
}

const keptSeconds = 3_600;

/**
 * Notes that a worker refused a job.
 * @returns whether another worker is there that could execute it and has not refused it
 */
export async function leftToOthers(redis: Redis, worker: string, queued: Queued): Promise<boolean> {
  const key = keys.refusals(experimentKey(queued.job.experiment), jobId(queued.job));
  await redis.multi().sadd(key, worker).expire(key, keptSeconds).exec();
  const refused = new Set(await redis.smembers(key));
  const workers = await workersThere(redis);
  return workers.some(
    (one) => one.state === 'working' && !refused.has(one.id) && whyNever(one, queued) === null,
  );
}
