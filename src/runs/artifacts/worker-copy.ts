import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hasCode, messageOf } from '../../lib/errors.ts';
import type { Job, Plan } from '../../schema/index.ts';
import {
  createExperiment,
  type Experiment,
  leaveFreeLease,
  objectIds,
  removeFolder,
} from '../../store/index.ts';
import type { Following } from '../jobs/executor.ts';
import type { JobResult } from '../jobs/job-result.ts';
import { RunCopy } from './run-copy.ts';
import type { S3Store } from './s3-store.ts';

/** The interval between uploads; the end of a step also causes one. */
const pauseMs = 5_000;

export interface WorkerCopyOptions {
  store: S3Store;
  log: (line: string) => void;
}

/**
 * Executes a job in a separate folder, which begins with the run as it is in the store. New data is sent while the job
 * is executed, and all of it before this resolves.
 * @throws UserError `run_locked`, `lease_lost`; the errors of the job or the store
 */
export async function withRunCopy(
  job: Job,
  { store, log }: WorkerCopyOptions,
  { signal, onProgress }: Following,
  execute: (experiment: Experiment, following: Following) => Promise<JobResult>,
): Promise<JobResult> {
  // Like all temporary folders, it is not visible in any sandbox.
  const place = mkdtempSync(join(tmpdir(), 'mlab-run-'));
  try {
    const experiment = createExperiment(join(place, job.run.experiment), planOf(job));
    const folder = experiment.runFolder(job.run.id);
    const copy = new RunCopy(store, folder);
    await copy.look();
    const epoch = await copy.claim();
    await copy.download(signal);
    if (epoch > 1) leaveFreeLease(folder.folder, epoch - 1);
    const uploads = new Uploads(copy, experiment, (line) => log(`${job.run.id}: ${line}`));
    const sending = uploads.run();
    try {
      return await execute(experiment, {
        signal: AbortSignal.any([signal, uploads.lost]),
        onProgress: (progress) => {
          if (progress.kind === 'run_step') uploads.wake();
          onProgress(progress);
        },
      });
    } finally {
      await uploads.end(sending);
    }
  } finally {
    // A failed removal does not affect the job.
    await removeFolder(place, AbortSignal.any([])).catch((error: unknown) => log(messageOf(error)));
  }
}

/** Repeatedly sends new data of a run. */
class Uploads {
  readonly #copy: RunCopy;
  readonly #experiment: Experiment;
  readonly #log: (line: string) => void;
  readonly #ended = new AbortController();
  readonly #lost = new AbortController();
  #wake = Promise.withResolvers<void>();

  constructor(copy: RunCopy, experiment: Experiment, log: (line: string) => void) {
    this.#copy = copy;
    this.#experiment = experiment;
    this.#log = log;
  }

  /** Aborted when another machine has the run. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  wake(): void {
    this.#wake.resolve();
  }

  /** Runs until it is ended. A store that can't be reached for a while does not stop a run. */
  async run(): Promise<void> {
    const { signal } = this.#ended;
    while (!signal.aborted && !this.lost.aborted) {
      await Promise.race([this.#wake.promise, sleep(pauseMs, undefined, { signal }).catch(() => {})]);
      if (signal.aborted) return;
      this.#wake = Promise.withResolvers();
      try {
        await this.#upload();
      } catch (error) {
        if (hasCode(error, 'lease_lost')) this.#lost.abort(error);
        else this.#log(`not uploaded yet: ${messageOf(error)}`);
      }
    }
  }

  /**
   * Sends the rest.
   * @throws as `RunCopy.upload`
   */
  async end(sending: Promise<void>): Promise<void> {
    this.#ended.abort();
    await sending;
    if (this.lost.aborted) throw this.lost.reason;
    await this.#upload();
  }

  async #upload(): Promise<void> {
    await this.#copy.upload(() => objectIds(this.#experiment.objects.folder));
  }
}

/** A plan with only this run: the job contains everything else that is needed. */
function planOf({ run, mlab }: Job): Plan {
  return { v: 1, name: run.experiment, created: Date.now(), mlab, parallel: 1, grade: 'none', runs: [run] };
}
