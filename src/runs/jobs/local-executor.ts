import { setImmediate as nextTurn } from 'node:timers/promises';
import { hasCode } from '../../lib/errors.ts';
import { ownTurn } from '../../lib/own-turn.ts';
import { keepPausesShort } from '../../lib/short-pauses.ts';
import type { Job } from '../../schema/index.ts';
import { explainedFailure } from '../session/run-failure.ts';
import { type Capacity, nothing } from './capacity.ts';
import type { Executor, Following } from './executor.ts';
import type { JobResult } from './job-result.ts';

interface Waiting {
  job: Job;
  begin: (held: Disposable) => void;
}

/**
 * Executes jobs in this process, as many at a time as fit; an exclusive job runs alone. Gradings go before waiting
 * runs. Jobs begin in the order in which they came, with one exception: while the first does not fit, others may begin
 * that leave it what it needs.
 */
export class LocalExecutor implements Executor {
  readonly #execute: Executor['execute'];
  readonly #capacity: Capacity;
  #waiting: Waiting[] = [];

  /** @param execute called with a job when its turn comes */
  constructor(execute: Executor['execute'], capacity: Capacity) {
    this.#execute = execute;
    this.#capacity = capacity;
    keepPausesShort();
  }

  async execute(job: Job, following: Following): Promise<JobResult> {
    const never = this.#capacity.whyNever(job.resources);
    if (never !== null) return { record: null, problem: `can't be executed here: ${never}` };
    const held = await this.#room(job);
    try {
      // Beginning a job takes some milliseconds.
      await ownTurn();
      following.signal.throwIfAborted();
      return await this.#execute(job, following);
    } catch (error) {
      if (following.signal.aborted) return { record: null, problem: 'interrupted' };
      const problem = explainedFailure(error);
      return { record: null, problem, ...(hasCode(error, 'run_locked') ? { isElsewhere: true } : {}) };
    } finally {
      held[Symbol.dispose]();
      // Whoever follows a run first learns of its end, and may then ask for its grading.
      void nextTurn().then(() => this.#beginAll());
    }
  }

  #room(job: Job): Promise<Disposable> {
    return new Promise((begin) => {
      const waiting = { job, begin };
      const isNext = job.kind === 'grade' && !job.resources.exclusive;
      const before = isNext ? undefined : this.#waiting[0];
      // The waiting jobs did not fit a moment ago, and nothing has ended since.
      if (this.#begin(waiting, before)) return;
      if (isNext) this.#waiting.unshift(waiting);
      else this.#waiting.push(waiting);
    });
  }

  #beginAll(): void {
    const left: Waiting[] = [];
    for (const waiting of this.#waiting) if (!this.#begin(waiting, left[0])) left.push(waiting);
    this.#waiting = left;
  }

  /** @param first of the jobs that do not fit: none behind it takes any of what it needs */
  #begin({ job, begin }: Waiting, first: Waiting | undefined): boolean {
    const reserved = first === undefined ? nothing : this.#capacity.needOf(first.job.resources);
    if (!this.#capacity.fits(job.resources, reserved)) return false;
    begin(this.#capacity.take(job.resources));
    return true;
  }
}
