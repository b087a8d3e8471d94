import { setImmediate as nextTurn } from 'node:timers/promises';
import { messageOf } from '../../lib/errors.ts';
import { ownTurn } from '../../lib/own-turn.ts';
import type { Job } from '../../schema/index.ts';
import type { Executor, Following } from './executor.ts';
import type { JobResult } from './job-result.ts';

interface Waiting {
  job: Job;
  begin: () => void;
}

/** Executes jobs in this process, several at a time; one that is exclusive, alone. A grading goes before runs that wait. */
export class LocalExecutor implements Executor {
  readonly #execute: Executor['execute'];
  readonly #parallel: number;
  readonly #waiting: Waiting[] = [];
  #running = 0;
  #exclusive = false;

  /** @param execute what is done with a job when its turn has come */
  constructor(execute: Executor['execute'], parallel: number) {
    this.#execute = execute;
    this.#parallel = parallel;
  }

  async execute(job: Job, following: Following): Promise<JobResult> {
    await this.#room(job);
    try {
      // The beginning of a job takes some milliseconds.
      await ownTurn();
      following.signal.throwIfAborted();
      return await this.#execute(job, following);
    } catch (error) {
      return { record: null, problem: following.signal.aborted ? 'interrupted' : messageOf(error) };
    } finally {
      this.#running -= 1;
      if (job.resources.exclusive) this.#exclusive = false;
      // Whoever follows a run hears of its end first, and may ask for its grading.
      void nextTurn().then(() => this.#beginNext());
    }
  }

  #room(job: Job): Promise<void> {
    return new Promise((begin) => {
      const isNext = job.kind === 'grade' && !job.resources.exclusive;
      if (isNext) this.#waiting.unshift({ job, begin });
      else this.#waiting.push({ job, begin });
      this.#beginNext();
    });
  }

  #beginNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || this.#exclusive || this.#running >= this.#parallel) return;
      if (next.job.resources.exclusive && this.#running > 0) return;
      this.#waiting.shift();
      this.#running += 1;
      this.#exclusive = next.job.resources.exclusive;
      next.begin();
    }
  }
}
