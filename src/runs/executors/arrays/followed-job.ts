import type { GradeJob, Job, RunId } from '../../../schema/index.ts';
import type { RunFolder } from '../../../store/index.ts';
import { isGraded } from '../../graded.ts';
import type { Following } from '../../jobs/executor.ts';
import { type JobResult, notGradedYet, resultOf } from '../../jobs/job-result.ts';
import { readableRecord } from '../../readable-record.ts';
import { hasEnded, isWaiting, type JobState, mayBeGivenAgain } from './job-state.ts';
import type { Wave, WaveFolder } from './wave.ts';

/** A job of a submitted array. */
export interface Submitted {
  wave: Wave;
  index: number;
  /** The array and its index: `12_3`. */
  key: string;
  kind: Job['kind'];
  run: RunId;
}

/** A requested job, with the callback for its end. */
export interface Given {
  job: Job;
  next: GradeJob | undefined;
  following: Following;
  /** Whether the store had a record of the run when it was requested. */
  hadBegun: boolean;
  /** The number of earlier submissions. */
  attempts: number;
  resolve: (result: JobResult) => void;
  reject: (error: unknown) => void;
}

/** What a look at a job shows: it is in progress, has its result, or has to be submitted again. */
export type JobCheck =
  | { kind: 'under way' }
  | { kind: 'ended'; result: JobResult }
  | { kind: 'again'; why: string };

/** Results from other machines may become visible a moment after the end of their job. */
const patientLooks = 3;
/** Jobs that end again and again through no fault of theirs need a person's attention. */
const maxAttempts = 4;

const lost: JobState = { state: 'LOST', reason: '', nodes: '', restarts: 0, name: '' };
const cancelled: JobState = { ...lost, state: 'CANCELLED' };

/** Follows one job by what its scheduler and the store report about it. */
export class FollowedJob {
  readonly given: Given;
  readonly submitted: Submitted;
  readonly #folder: RunFolder;
  readonly #waves: WaveFolder;
  readonly #scheduler: string;
  #told = '';
  #looks = 0;

  /** @param scheduler its name, for people */
  constructor(given: Given, submitted: Submitted, folder: RunFolder, waves: WaveFolder, scheduler: string) {
    this.given = given;
    this.submitted = submitted;
    this.#folder = folder;
    this.#waves = waves;
    this.#scheduler = scheduler;
  }

  /** As the scheduler said last. */
  get isRunning(): boolean {
    return this.#told !== '' && !this.#told.startsWith('waits');
  }

  /**
   * @param known undefined: neither the queue nor accounting knows it
   * @param isArrayThere whether the queue has other jobs of its array
   */
  look(known: JobState | undefined, isArrayThere: boolean): JobCheck {
    if (known !== undefined && !hasEnded(known)) {
      this.#looks = 0;
      this.#tell(known);
      return { kind: 'under way' };
    }
    // Without accounting, Slurm keeps nothing of a single job that was cancelled while it waited.
    const state = known ?? (isArrayThere && this.#told.startsWith('waits') ? cancelled : undefined);
    const result = this.#finished() ?? this.#workersResult();
    if (result !== null) return this.#ended(result);
    this.#looks += 1;
    if (this.#looks < patientLooks) return { kind: 'under way' };
    const { state: word, reason } = state ?? lost;
    const why =
      word === 'LOST'
        ? `${this.#scheduler} knows nothing of it any more`
        : [word, reason].filter(Boolean).join(', ');
    const isAgain = state === undefined || word === 'COMPLETED' || mayBeGivenAgain(state);
    if (isAgain && this.given.attempts + 1 < maxAttempts) return { kind: 'again', why };
    return this.#ended({
      ...{ record: readableRecord(this.#folder), problem: this.#problem(word, why) },
      ...(word === 'CANCELLED' ? { isCancelled: true } : {}),
    });
  }

  #tell({ state, reason, nodes, restarts, ...rest }: JobState): void {
    const { job, following, hadBegun, attempts } = this.given;
    const now = isWaiting({ state, reason, nodes, restarts, ...rest })
      ? `waits ${reason}`
      : `${state} ${nodes} ${restarts}`;
    if (now === this.#told || job.kind !== 'run') return;
    this.#told = now;
    const { run } = job;
    const number = `${this.#scheduler} ${this.submitted.key}`;
    if (now.startsWith('waits')) {
      const place = reason === '' ? number : `${number} (${reason})`;
      following.onProgress({ kind: 'run_queued', run, place, held: /held|hold/i.test(reason) });
    } else {
      const resumed = hadBegun || attempts > 0 || restarts > 0;
      following.onProgress({ kind: 'run_started', run, resumed, place: `${nodes} (${number})` });
    }
  }

  /** The result in the store; null if the job is not done. */
  #finished(): JobResult | null {
    const { job } = this.given;
    const record = readableRecord(this.#folder);
    if (record?.status !== 'finished') return null;
    return job.kind === 'run' || isGraded(this.#folder, job.which) ? resultOf(record) : null;
  }

  /** Why the worker could not do it; null if it reported nothing, or was stopped. */
  #workersResult(): JobResult | null {
    const result = this.#waves.resultOf(this.submitted.wave, this.submitted.index);
    if (result === null) return null;
    const record = readableRecord(this.#folder);
    if ('error' in result) {
      const { code, message: problem } = result.error;
      if (code === 'interrupted') return null;
      return { record, problem, ...(code === 'run_locked' ? { isElsewhere: true } : {}) };
    }
    const { problem, status } = result;
    const isStopped = status === 'interrupted' || status === 'running' || problem === notGradedYet;
    return problem === null || isStopped ? null : { record, problem };
  }

  #problem(state: string, why: string): string {
    const { wave, index, key } = this.submitted;
    if (state === 'CANCELLED') return `cancelled in ${this.#scheduler} (${key})`;
    const lines = this.#waves.lastLines(wave, index);
    return `${this.#scheduler} ended ${key}: ${why}. ${lines === '' ? 'It printed nothing' : `It printed at the end:\n${lines}\nAll of it`}: ${this.#waves.logOf(wave, index)}`;
  }

  #ended(result: JobResult): JobCheck {
    const { job, following } = this.given;
    const { run } = job;
    const { record, problem } = result;
    if (job.kind === 'grade') {
      const grades = this.#folder.readGrades().grades;
      if (problem === null) following.onProgress({ kind: 'run_graded', run, grades });
      else
        following.onProgress({
          kind: 'run_not_graded',
          run,
          message: problem,
          error: this.#scheduler.toLowerCase(),
        });
    } else if (record !== null && record.status !== 'running')
      following.onProgress({ kind: 'run_ended', run, record });
    return { kind: 'ended', result };
  }
}
