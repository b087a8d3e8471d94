import { setTimeout as sleep } from 'node:timers/promises';
import type { RunId } from '../schema/index.ts';
import { noteUnqueued } from '../store/index.ts';
import type { JobResult } from './jobs/job-result.ts';

/** Many jobs may be refused at once. */
const gatherMs = 500;

/** Notes in an experiment's folder which jobs ended though their runs did not, and why: nobody will begin them. */
export class UnendedJobs implements AsyncDisposable {
  readonly #experiment: string;
  #gathered: { run: RunId; result: JobResult }[] = [];
  #work: Promise<void> = Promise.resolve();

  /** @param experiment its folder */
  constructor(experiment: string) {
    this.#experiment = experiment;
  }

  add(run: RunId, result: JobResult): void {
    const { record, problem, isElsewhere } = result;
    const hasEnded = record !== null && ['finished', 'failed', 'waiting'].includes(record.status);
    if (problem === null || hasEnded || isElsewhere) return;
    this.#gathered.push({ run, result });
    if (this.#gathered.length > 1) return;
    this.#work = this.#work.then(() => sleep(gatherMs)).then(() => this.#write());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#work;
  }

  async #write(): Promise<void> {
    const alike = Map.groupBy(this.#gathered.splice(0), ({ result }) => result.problem);
    for (const [why, jobs] of alike) {
      const state = jobs[0]?.result.isCancelled ? 'cancelled' : 'failed';
      const runs = jobs.map(({ run }) => run);
      // On a full disk, say: only lists of runs show it.
      await noteUnqueued(this.#experiment, runs, { state, why: why ?? '' }).catch(() => {});
    }
  }
}
