import { createHash } from 'node:crypto';
import type { Job } from '../../../schema/index.ts';

/** The prefix of all keys in Redis. */
export const prefix = 'mlab';

/** An experiment, identified by its folder: two with the same name may share a Redis. */
export function experimentKey(folder: string): string {
  return createHash('sha256').update(folder).digest('hex').slice(0, 16);
}

/** The run of a job's id. */
export function runOf(id: string): string {
  return id.slice(id.indexOf('.') + 1, id.lastIndexOf('.'));
}

/** The same for the same work, so that it is queued only once. */
export function jobId(job: Job): string {
  const what = job.kind === 'run' ? `run-${job.archived_attempts}` : `grade-${job.which}`;
  return `${experimentKey(job.experiment)}.${job.run.id}.${what}`;
}

export const keys = {
  /** Hash: the needs of the jobs in each queue. */
  queues: `${prefix}:queues`,
  /** Set of workers that have registered. */
  workers: `${prefix}:workers`,
  /** The last report of a worker; expires when it stops reporting. */
  worker: (id: string) => `${prefix}:worker:${id}`,
  /** Channel: there is a new job. */
  news: `${prefix}:news`,
  /** Stream: results of jobs. */
  ends: (experiment: string) => `${prefix}:ends:${experiment}`,
  /** Channel: runs that began. */
  begun: (experiment: string) => `${prefix}:begun:${experiment}`,
  /** Exists while all jobs of an experiment are being cancelled. */
  cancelled: (experiment: string) => `${prefix}:cancelled:${experiment}`,
  /** Set of the runs of an experiment whose jobs are being cancelled. */
  cancelledRuns: (experiment: string) => `${prefix}:cancelled-runs:${experiment}`,
  /** Set of the workers that refused a job because they are set up differently. */
  refusals: (experiment: string, job: string) => `${prefix}:refusals:${experiment}:${job}`,
  quota: (experiment: string) => `${prefix}:quota:${experiment}`,
  holds: (experiment: string) => `${prefix}:holds:${experiment}`,
  /** Exists for a moment, to see whether anything can be stored. */
  tried: (id: string) => `${prefix}:tried:${id}`,
  pace: (provider: string) => `${prefix}:pace:${provider}`,
};
