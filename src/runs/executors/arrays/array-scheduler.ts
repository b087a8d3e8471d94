import { hasCode } from '../../../lib/errors.ts';
import type { Job } from '../../../schema/index.ts';
import type { JobStates } from './job-state.ts';

/** The code of the error if a scheduler refuses jobs. */
export const refusal = 'jobs_refused';
/** The code of the error if a scheduler can't be reached from here at all. */
export const unreachable = 'scheduler_unreachable';

/** Whether the scheduler has certainly not accepted the jobs. */
export function isNotSubmitted(error: unknown): boolean {
  return hasCode(error, refusal) || hasCode(error, unreachable);
}

/** Jobs that are submitted together. */
export interface JobArray {
  /** Also its name at the scheduler. */
  name: string;
  /** `jobs/<index>.json` are its jobs; `logs/<index>.log` and `results/<index>.json` are for their output. */
  folder: string;
  jobs: readonly Job[];
  /** Each job begins when the job with the same index of this array has ended well. */
  after: string | undefined;
  /** The most concurrent jobs. */
  parallel: number | undefined;
}

/** A scheduler that executes arrays of jobs: Slurm, Kubernetes. */
export interface ArrayScheduler extends AsyncDisposable {
  /** For people: `Slurm`. */
  readonly name: string;
  /** The name of the experiment's folder that contains its arrays. */
  readonly folderName: string;
  /** The cores of each job. */
  readonly threads: number;
  /** Whether an array can wait for another one. */
  readonly chains: boolean;
  /** Whether single jobs of an array can be cancelled. */
  readonly cancelsJobs: boolean;
  /** What a job requests: jobs with equal requests can be one array. */
  asksFor(job: Job): unknown;
  mostOfArray(): Promise<number>;
  /** The job in the form that its worker gets. */
  changed(job: Job): Job;
  /** Writes what an array needs beside its jobs. */
  prepare(array: JobArray): void;
  /**
   * @returns the scheduler's id for the array; null if the scheduler did not answer, and may have accepted it
   * @throws UserError `jobs_refused`, `scheduler_unreachable`
   */
  submit(array: JobArray): Promise<string | null>;
  /** Why it did not answer last, in its own words; empty if unknown. */
  readonly trouble: string;
  /** The jobs that it knows, by array and index (`12_3`); null if it does not answer. */
  queue(): Promise<JobStates | null>;
  /** What is known about arrays that `queue` does not list any more. */
  accounted(ids: readonly string[]): Promise<JobStates>;
  /**
   * @param ids arrays, or jobs of them if it `cancelsJobs`
   * @returns whether the scheduler was told
   */
  cancel(ids: readonly string[]): Promise<boolean>;
  /** The command with which a person cancels them. */
  cancelCommand(ids: readonly string[]): string;
}
