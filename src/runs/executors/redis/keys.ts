import { createHash } from 'node:crypto';
import type { Job } from '../../../schema/index.ts';

/** All that is kept in Redis begins so. */
export const prefix = 'mlab';

/** An experiment, by its folder: two of one name may share a Redis. */
export function experimentKey(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 16);
}

/** The same for the same work, so that it is queued once. */
export function jobId(job: Job): string {
  const what = job.kind === 'run' ? `run-${job.archived_attempts}` : `grade-${job.which}`;
  return `${experimentKey(job.experiment)}.${job.run.id}.${what}`;
}

export const keys = {
  /** Hash: of each queue, what its jobs need. */
  queues: `${prefix}:queues`,
  /** Set of workers that said hello. */
  workers: `${prefix}:workers`,
  /** What a worker said last; gone when it says nothing any more. */
  worker: (id: string) => `${prefix}:worker:${id}`,
  /** Channel: there is a new job. */
  news: `${prefix}:news`,
  /** Hash: what became of jobs, until whoever gave them has read it. */
  results: (experiment: string) => `${prefix}:results:${experiment}`,
  /** Channel: runs that began. */
  begun: (experiment: string) => `${prefix}:begun:${experiment}`,
  /** Is there while the jobs of an experiment are to be ended. */
  cancelled: (experiment: string) => `${prefix}:cancelled:${experiment}`,
  quota: (experiment: string) => `${prefix}:quota:${experiment}`,
  holds: (experiment: string) => `${prefix}:holds:${experiment}`,
  pace: (provider: string) => `${prefix}:pace:${provider}`,
};
