import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { basename } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Job as BullJob, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { hasCode, messageOf, UserError } from '../../../lib/errors.ts';
import type { Capacity } from '../../jobs/capacity.ts';
import { nothing } from '../../jobs/capacity.ts';
import type { Following } from '../../jobs/executor.ts';
import type { JobResult } from '../../jobs/job-result.ts';
import { workerLost } from '../../session/run-failure.ts';
import { isCut } from './connection.ts';
import { cancelledProblem, type JobClass, JobQueue, Queued } from './job-queue.ts';
import { experimentKey, keys, prefix } from './keys.ts';
import type { RunNotice } from './run-places.ts';
import { adviceOf, isRefusal, leftToOthers, refusalIn } from './suitable-workers.ts';
import { sayGoodbye, sayHello } from './workers.ts';

export interface FleetWorkerOptions {
  redis: Redis;
  /** Another connection to the same Redis, which only listens. */
  listener: Redis;
  capacity: Capacity;
  labels: readonly string[];
  mlab: string;
  /** How long a worker may be silent before its jobs are given to others. */
  stalledAfterMs: number;
  execute: (queued: Queued, following: Following) => Promise<JobResult>;
  /** Ends a job that must not be executed again, for this reason. */
  giveUp: (queued: Queued, reason: UserError, following: Following) => Promise<JobResult>;
  /** Called when it is registered and begins to take jobs. */
  onReady: (id: string) => void;
  log: (line: string) => void;
}

interface Active {
  queued: Queued;
  job: BullJob;
  since: number;
  stop: AbortController;
  isCancelled: boolean;
}

const helloMs = 2_000;
/** The pause between requests when there was no job; a notification of a new job ends it early. */
const idleMs = 500;
/** How long the known queues are taken to be all; a notification of a new job ends it early. */
const sourcesMs = 1_000;
/** The delay before another try of a run that somebody else holds. */
const heldMs = 10_000;
/** How long a worker that refused a job lets others take jobs. */
const refusedMs = 5_000;
/** A job whose worker died or was disconnected this often is given up, because it may be what crashes the workers. */
const maxLosses = 8;

/** Takes jobs that it has room for, and executes them until it is stopped. */
export class FleetWorker {
  readonly id = `${hostname()}-${process.pid}-${randomBytes(4).toString('hex')}`;
  readonly #options: FleetWorkerOptions;
  readonly #queue: JobQueue;
  readonly #sources = new Map<string, { worker: Worker; jobs: JobClass; last: number }>();
  readonly #active = new Map<string, Active>();
  #wake = Promise.withResolvers<void>();
  #done = 0;
  #pausesUntil = 0;
  #knowsSourcesUntil = 0;
  #isDraining = false;

  constructor(options: FleetWorkerOptions) {
    this.#options = options;
    this.#queue = new JobQueue(options.redis);
  }

  /**
   * Runs until the signal is aborted, and the jobs in progress are recorded and back in the queue.
   * @returns how many runs were done; gradings are not counted
   */
  async run(signal: AbortSignal): Promise<number> {
    const { listener, redis, stalledAfterMs, onReady, log } = this.#options;
    listener.on('message', this.#hearNews);
    signal.addEventListener('abort', this.#drain, { once: true });
    try {
      await listener.subscribe(keys.news);
      await this.#hello();
    } catch (error) {
      if (signal.aborted) return 0;
      throw error;
    }
    redis.once('end', this.#closeSources);
    onReady(this.id);
    const timers = [
      setInterval(() => void this.#hello().catch(() => {}), helloMs),
      setInterval(() => void this.#renew().catch(() => {}), stalledAfterMs / 3),
    ];
    try {
      while (!signal.aborted) {
        const pauses = performance.now() < this.#pausesUntil;
        const tookAny =
          !pauses &&
          (await this.#takeAll(signal).catch((error: unknown) => {
            if (!signal.aborted && !isCut(error)) log(`Redis: ${messageOf(error)}`);
            return false;
          }));
        if (tookAny || signal.aborted) continue;
        await this.#news();
      }
      while (this.#active.size > 0) await this.#news();
    } finally {
      for (const timer of timers) clearInterval(timer);
      signal.removeEventListener('abort', this.#drain);
      listener.off('message', this.#hearNews);
      await sayGoodbye(redis, this.id).catch(() => {});
      redis.off('end', this.#closeSources);
      await this.#closeSources();
      await this.#queue[Symbol.asyncDispose]();
    }
    return this.#done;
  }

  readonly #awake = (): void => this.#wake.resolve();

  /** Waits for news, or for a while. Each is waited for once: a loop never goes round without a pause. */
  async #news(): Promise<void> {
    await Promise.race([this.#wake.promise, sleep(idleMs, undefined, { ref: false })]);
    this.#wake = Promise.withResolvers();
  }

  /** Jobs were added, perhaps to a new queue. */
  readonly #hearNews = (): void => {
    this.#knowsSourcesUntil = 0;
    this.#awake();
  };

  /** Without it, a check for lost jobs that fails as the connection ends would keep the process for 5 s. */
  readonly #closeSources = async (): Promise<void> => {
    await Promise.all([...this.#sources.values()].map(({ worker }) => worker.close(true).catch(() => {})));
  };

  readonly #drain = (): void => {
    this.#isDraining = true;
    for (const { stop } of this.#active.values()) stop.abort(new Error('the worker is stopped'));
    this.#awake();
  };

  /** Takes jobs from each queue in turn. What the first job that does not fit needs is kept for it. */
  async #takeAll(signal: AbortSignal): Promise<boolean> {
    await this.#findSources();
    const { capacity } = this.#options;
    let tookAny = false;
    let reserved = nothing;
    for (const [name, source] of [...this.#sources].sort(([, one], [, other]) => one.last - other.last)) {
      const { resources } = source.jobs;
      while (!signal.aborted && capacity.fits(resources, reserved)) {
        const held = capacity.take(resources);
        const job = await source.worker.getNextJob(this.id, { block: false }).catch((error: unknown) => {
          held[Symbol.dispose]();
          throw error;
        });
        if (job === undefined) {
          held[Symbol.dispose]();
          break;
        }
        tookAny = true;
        source.last = performance.now();
        void this.#execute(job, held);
      }
      const isFull = reserved === nothing && !capacity.fits(resources);
      if (isFull && (await this.#queue.waiting(name)) > 0) reserved = capacity.needOf(resources);
    }
    return tookAny;
  }

  /** Finds the queues whose jobs can ever be executed here; new ones within a second. */
  async #findSources(): Promise<void> {
    const { capacity, labels, redis, stalledAfterMs } = this.#options;
    if (performance.now() < this.#knowsSourcesUntil) return;
    for (const [name, jobs] of await this.#queue.classes()) {
      const suits = jobs.labels.every((label) => labels.includes(label));
      if (this.#sources.has(name) || !suits || capacity.whyNever(jobs.resources) !== null) continue;
      const worker = new Worker(name, null, {
        ...{ connection: redis, prefix, autorun: false, lockDuration: stalledAfterMs },
        ...{ stalledInterval: stalledAfterMs / 2, maxStalledCount: Number.MAX_SAFE_INTEGER, name: this.id },
      });
      worker.on('error', () => {});
      // One whose connection broke while it was created never gets another connection, so it is created again the next
      // time.
      await worker.waitUntilReady().catch(async (error: unknown) => {
        await worker.close(true).catch(() => {});
        throw error;
      });
      await worker.startStalledCheckTimer();
      this.#sources.set(name, { worker, jobs, last: 0 });
    }
    this.#knowsSourcesUntil = performance.now() + sourcesMs;
  }

  async #execute(job: BullJob, held: Disposable): Promise<void> {
    const id = `${job.id}`;
    try {
      const parsed = Queued.safeParse(job.data);
      if (!parsed.success) {
        this.#options.log(`${id}: no job that this version knows`);
        await job.moveToFailed(new Error('not a job'), this.id, false);
        return;
      }
      const stop = new AbortController();
      if (this.#isDraining) stop.abort(new Error('the worker is stopped'));
      const active = { queued: parsed.data, job, since: performance.now(), stop, isCancelled: false };
      this.#active.set(id, active);
      await this.#executeActive(active);
    } catch (error) {
      // Others have the job by now, or will have it.
      this.#options.log(`${id}: ${messageOf(error)}`);
    } finally {
      this.#active.delete(id);
      held[Symbol.dispose]();
      this.#awake();
    }
  }

  async #executeActive(active: Active): Promise<void> {
    const { queued, job, stop } = active;
    const { redis, log } = this.#options;
    const { kind, experiment, run } = queued.job;
    const shown = `${basename(experiment)}/${run.id}`;
    // Only for people who watch: the run does not wait for it.
    const tell = (what: RunNotice) => {
      redis.publish(keys.begun(experimentKey(experiment)), JSON.stringify(what)).catch(() => {});
    };
    if (kind === 'run') tell({ run: run.id, place: `${hostname()} (${this.id})` });
    let problem: string | null;
    try {
      problem = (await this.#resultOf(queued, job.stalledCounter, stop.signal)).problem;
    } catch (error) {
      const isHeld = hasCode(error, 'run_locked') || hasCode(error, 'lease_lost');
      if (isHeld && !stop.signal.aborted) {
        log(`${shown}: put back by worker ${this.id} for ${heldMs / 1000} s: ${adviceOf(error)}`);
        tell({ run: run.id, place: '', held: messageOf(error) });
        await this.#later(job);
        return;
      }
      if (isRefusal(error) && !stop.signal.aborted && (await leftToOthers(redis, this.id, queued))) {
        log(`${shown}: left to other workers by worker ${this.id}: ${adviceOf(error)}`);
        this.#pausesUntil = performance.now() + refusedMs;
        await job.moveToWait(this.id);
        return;
      }
      problem = isRefusal(error) ? `refused by worker ${this.id}: ${adviceOf(error)}` : adviceOf(error);
    }
    const isUnfinished = problem !== null && stop.signal.aborted;
    if (isUnfinished && !active.isCancelled) {
      await job.moveToWait(this.id);
      return;
    }
    // Reported before the job is removed: a job that is removed without a result is submitted again.
    if (problem === null && queued.next !== undefined) {
      const { next, ...asBefore } = queued;
      await this.#queue.add([{ ...asBefore, job: next }]);
    }
    const told = active.isCancelled && problem !== null ? cancelledProblem : problem;
    await this.#queue.tellEnd(queued, { problem: told, worker: this.id });
    if (kind === 'run') this.#done += 1;
    await job.moveToCompleted('', this.id, false);
    const what = kind === 'run' ? 'run' : 'grading';
    log(`${shown}: ${what} ${told === null ? 'finished' : `not finished: ${told}`}`);
  }

  /** @throws a refusal, also if the run has failed because of this machine before it took a step */
  async #resultOf(queued: Queued, losses: number, signal: AbortSignal): Promise<JobResult> {
    const following = { signal, onProgress: () => {} };
    if (losses < maxLosses) {
      const result = await this.#options.execute(queued, following);
      const refusal = queued.job.kind === 'run' ? refusalIn(result) : null;
      if (refusal !== null) throw refusal;
      return result;
    }
    const what = queued.job.kind === 'run' ? 'The run' : 'Its grading';
    const reason = new UserError(
      workerLost,
      `${what} was lost ${losses} times: its worker died or lost its connection.`,
      "Check the workers' last output and their memory, then use mlab runs retry.",
    );
    return await this.#options.giveUp(queued, reason, following);
  }

  /** By the clock of Redis, because the clocks of workers may differ. */
  async #later(job: BullJob): Promise<void> {
    const [seconds] = await this.#options.redis.time();
    await job.moveToDelayed(Number(seconds) * 1000 + heldMs, this.id);
  }

  async #renew(): Promise<void> {
    const { stalledAfterMs } = this.#options;
    await Promise.all([...this.#active.values()].map(({ job }) => job.extendLock(this.id, stalledAfterMs)));
  }

  async #hello(): Promise<void> {
    const { redis, capacity, labels, mlab } = this.#options;
    const now = performance.now();
    const jobs = [...this.#active.values()].map(({ queued: { job }, since }) => ({
      ...{ kind: job.kind, experiment: job.experiment, run: job.run.id },
      seconds: Math.round((now - since) / 1000),
    }));
    await sayHello(redis, {
      ...{ id: this.id, host: hostname(), pid: process.pid, mlab, labels: [...labels] },
      ...{ state: this.#isDraining ? 'draining' : 'working', total: capacity.total, free: capacity.free },
      ...{ jobs, done: this.#done },
    });
    await this.#stopCancelled();
  }

  async #stopCancelled(): Promise<void> {
    const { redis } = this.#options;
    for (const active of this.#active.values()) {
      const { experiment, run } = active.queued.job;
      const key = experimentKey(experiment);
      const isCancelled =
        (await redis.exists(keys.cancelled(key))) === 1 ||
        (await redis.sismember(keys.cancelledRuns(key), run.id)) === 1;
      if (!isCancelled) continue;
      active.isCancelled = true;
      active.stop.abort(new Error('cancelled'));
    }
  }
}
