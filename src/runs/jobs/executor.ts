import type { GradeJob, Job } from '../../schema/index.ts';
import type { JobProgress, JobResult } from './job-result.ts';

/** How far a job is, and when to stop it. */
export interface Following {
  signal: AbortSignal;
  onProgress: (progress: JobProgress) => void;
}

/** Where jobs are executed: in this process, or by the workers of a scheduler. */
export interface Executor {
  /**
   * Executes a job as soon as there is room for it, and follows it to its end. Jobs that are given together may be
   * scheduled together. When the signal is aborted, jobs under way stop after what they have recorded, and no other begins.
   * @param next what will be given when this ends well; who is elsewhere may schedule it now, and does not need it given then
   * @returns never rejects for what becomes of a job
   */
  execute(job: Job, following: Following, next?: GradeJob): Promise<JobResult>;
}
