import type { Job } from '../../../schema/index.ts';
import type { JobStates } from './job-state.ts';

/** Code of the error where a scheduler refuses jobs. */
export const refusal = 'jobs_refused';

/** Jobs that are submitted together. */
export interface JobArray {
  /** The scheduler knows it by this, too. */
  name: string;
  /** `jobs/<index>.json` are its jobs; `logs/<index>.log` and `results/<index>.json` are for what they print. */
  folder: string;
  jobs: readonly Job[];
  /** Each begins when the job of the same index of this array has ended well. */
  after: string | undefined;
  /** Most of them at the same time. */
  parallel: number | undefined;
}

/** What executes arrays of jobs: Slurm, Kubernetes. */
export interface ArrayScheduler extends AsyncDisposable {
  /** For people: `Slurm`. */
  readonly name: string;
  /** Of the experiment's folder that holds its arrays. */
  readonly folderName: string;
  /** Cores that each job has. */
  readonly threads: number;
  /** Whether an array can wait for another one. */
  readonly chains: boolean;
  /** What a job asks for: those that ask for the same can be one array. */
  asksFor(job: Job): unknown;
  mostOfArray(): Promise<number>;
  /** The job as its worker is to have it. */
  changed(job: Job): Job;
  /** Writes what an array needs beside its jobs. */
  prepare(array: JobArray): void;
  /**
   * @returns what the scheduler calls the array; null where it could not be asked, and may have taken it
   * @throws UserError `jobs_refused`
   */
  submit(array: JobArray): Promise<string | null>;
  /** The jobs that it knows, by array and index (`12_3`); null where it does not answer. */
  queue(): Promise<JobStates | null>;
  /** What is known of arrays that `queue` does not tell any more. */
  accounted(ids: readonly string[]): Promise<JobStates>;
  /** @returns whether it was told */
  cancel(ids: readonly string[]): Promise<boolean>;
  /** How a person cancels arrays. */
  cancelCommand(ids: readonly string[]): string;
}
