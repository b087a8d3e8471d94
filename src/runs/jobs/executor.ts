import type { GradeJob, Job } from '../../schema/index.ts';
import type { JobProgress, JobResult } from './job-result.ts';

/** Reports a job's progress, and stops it. */
export interface Following {
  signal: AbortSignal;
  onProgress: (progress: JobProgress) => void;
}

/** Where jobs are executed: in this process, or by the workers of a scheduler. */
export interface Executor {
  /**
   * Executes a job as soon as there is room for it, and follows it to its end. Jobs that are given together may be
   * scheduled together. When the signal is aborted, jobs in progress stop after the work that they have recorded, and
   * no others begin.
   * @param next the job that will be given if this one ends well; a remote executor may schedule it now, and then does
   *   not need to be given it
   * @returns never rejects because of what happens to a job
   */
  execute(job: Job, following: Following, next?: GradeJob): Promise<JobResult>;
}
