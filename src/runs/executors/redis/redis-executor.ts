import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { messageOf } from '../../../lib/errors.ts';
import { parsedAs } from '../../../lib/json-values.ts';
import type { GradeJob, Job } from '../../../schema/index.ts';
import { beginFork } from '../../artifacts/begin-fork.ts';
import { ExperimentCopy } from '../../artifacts/experiment-copy.ts';
import { spentByAll } from '../../experiment-models.ts';
import type { Following } from '../../jobs/executor.ts';
import type { JobResult } from '../../jobs/job-result.ts';
import { readableRecord } from '../../readable-record.ts';
import { doneBefore } from '../done-before.ts';
import type { Cancellation, ExecutorPlace, RemoteExecutor } from '../executor-kind.ts';
import type { RedisAddress } from './address.ts';
import { cancelQueued } from './cancel-jobs.ts';
import { connectRedis, isCut, placeOfRedis } from './connection.ts';
import { FleetQuota } from './fleet-quota.ts';
import { JobEnd, JobEnds } from './job-ends.ts';
import { cancelledProblem, JobQueue, type Queued } from './job-queue.ts';
import { experimentKey, jobId, keys } from './keys.ts';
import {
  type FollowedQueuedJob,
  RunNotice,
  tellHeld,
  tellPlace,
  tellPlaces,
  unwantedText,
} from './run-places.ts';
import { storedResult } from './stored-result.ts';
import { workersThere } from './workers.ts';
import { explained, explainWriteRefusal } from './write-refusal.ts';

interface Given extends FollowedQueuedJob {
  resolve: (result: JobResult) => void;
  reject: (error: unknown) => void;
  /** How often in a row it was missing in Redis. */
  missed: number;
  /** When its run's record changed last before it was queued here. */
  updated: number | undefined;
}

/** Jobs that are given within this time are queued together. */
const gatherMs = 20;
const pollMs = 200;
const sweepMs = 5_000;
/** Jobs that Redis lost in a failure of its machine are queued again. */
const maxMisses = 2;

const interrupted: JobResult = { record: null, problem: 'interrupted' };

/** Queues jobs in Redis, and follows them. Redis reports their results, and the store contains them. */
export class RedisExecutor implements RemoteExecutor {
  readonly threads: number | undefined;
  readonly #place: ExecutorPlace;
  readonly #address: RedisAddress;
  readonly #redis: Redis;
  readonly #listener: Redis;
  readonly #queue: JobQueue;
  readonly #experiment: string;
  /** The copy of the experiment in a store; null if its folder is shared. */
  readonly #copy: ExperimentCopy | null;
  readonly #followed = new Map<string, Given>();
  /** Everything that was queued here, with the gradings that follow. */
  readonly #queued = new Map<string, Queued>();
  readonly #ends: JobEnds;
  /** Gradings that follow runs, until they are requested; with their results, if they have ended before. */
  readonly #gradings = new Map<string, JobEnd | null>();
  readonly #closing = new AbortController();
  #gathered: Given[] = [];
  #told = '';
  #gathering: NodeJS.Timeout | undefined;
  #work: Promise<void> = Promise.resolve();
  #watching: Promise<void> | undefined;

  private constructor(
    place: ExecutorPlace,
    address: RedisAddress,
    redis: Redis,
    listener: Redis,
    copy: ExperimentCopy | null,
  ) {
    this.#place = place;
    this.#copy = copy;
    this.#address = address;
    this.#redis = redis;
    this.#listener = listener;
    this.#queue = new JobQueue(redis);
    this.#experiment = experimentKey(place.experiment.folder);
    this.#ends = new JobEnds(redis, this.#experiment);
    // Workers do not know about fractions of the machine that planned the jobs.
    this.threads = place.experiment.plan.resources?.cores === undefined ? 1 : undefined;
    place.signal.addEventListener('abort', this.#leave, { once: true });
  }

  static async open(address: RedisAddress, place: ExecutorPlace): Promise<RedisExecutor> {
    const copy = await ExperimentCopy.open(place.settings.redis?.artifacts, place.experiment, place);
    const redis = await connectRedis(address, place.signal, place.onOutage);
    const listener = await connectRedis(address, place.signal);
    const executor = new RedisExecutor(place, address, redis, listener, copy);
    await explained(executor.#begin(), address);
    return executor;
  }

  execute(job: Job, following: Following, next?: GradeJob): Promise<JobResult> {
    const done = doneBefore(this.#place, job, following, this.#queued.has(jobId(job)));
    if (done !== null) return Promise.resolve(done);
    if (this.#place.signal.aborted) return Promise.resolve(interrupted);
    const labels = this.#place.settings.redis?.labels ?? [];
    const artifacts = this.#copy === null ? {} : { artifacts: this.#copy.address };
    const queued: Queued = { job, labels, ...(next === undefined ? {} : { next }), ...artifacts };
    return new Promise((resolve, reject) => {
      this.#gathered.push({
        queued,
        following,
        resolve,
        reject,
        missed: 0,
        updated: undefined,
        place: '',
        held: '',
        unreported: 0,
      });
      this.#gathering ??= setTimeout(() => {
        this.#gathering = undefined;
        const given = this.#gathered.splice(0);
        this.#work = this.#work.then(() => this.#give(given));
      }, gatherMs);
    });
  }

  async cancel(runs?: ReadonlySet<string>): Promise<Cancellation> {
    if (this.#redis.status !== 'ready') {
      const problem = `${placeOfRedis(this.#address)} does not answer, so the jobs continue. Cancel them with mlab runs cancel when it answers.`;
      return { jobs: 0, ending: 0, problem };
    }
    await this.#work;
    const cancelling = cancelQueued(this.#redis, this.#place.experiment.folder, runs);
    return await explained(cancelling, this.#address);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#leave();
    this.#place.signal.removeEventListener('abort', this.#leave);
    this.#closing.abort();
    await this.#work;
    await this.#watching;
    await this.#queue[Symbol.asyncDispose]();
    this.#listener.disconnect();
    this.#redis.disconnect();
    this.#copy?.[Symbol.dispose]();
  }

  async #begin(): Promise<void> {
    await this.#ends.begin();
    // Left by an earlier command.
    const left = [keys.cancelled, keys.cancelledRuns];
    await this.#redis.del(left.map((key) => key(this.#experiment)));
    await this.#beginQuota();
    this.#listener.on('message', (_, text: string) => this.#tellBegun(text));
    await this.#listener.subscribe(keys.begun(this.#experiment));
  }

  async #beginQuota(): Promise<void> {
    const { experiment, models } = this.#place;
    // Limits may differ from those of the plan: the jobs have those of this command.
    const limits = models?.spend ?? experiment.plan.spend ?? {};
    const here = { redis: this.#redis, experiment: this.#experiment, worker: 'none' };
    const quota = new FleetQuota({ ...here, limits, spent: () => spentByAll(experiment) });
    if (limits.tokens !== undefined || limits.money !== undefined) await quota.begin();
    await quota.limit();
  }

  /** Stops following; the jobs continue. */
  readonly #leave = (): void => {
    clearTimeout(this.#gathering);
    for (const { resolve } of this.#gathered.splice(0)) resolve(interrupted);
    for (const { resolve, place } of this.#followed.values())
      resolve({ ...interrupted, left: place === '' ? 'queued' : 'running' });
    this.#followed.clear();
  };

  async #give(given: readonly Given[]): Promise<void> {
    try {
      // What ended before is no result of what is queued now.
      await this.#readEnds();
      await Promise.all(given.map((each) => this.#follow(each)));
      await Promise.all(given.map((each) => this.#send(each)));
      const open = given.filter(({ queued }) => this.#followed.has(jobId(queued.job)));
      for (const each of open)
        each.updated = readableRecord(this.#place.experiment.runFolder(each.queued.job.run.id))?.updated;
      await this.#queue.add(open.map(({ queued }) => queued));
      const place = this.#address.shown;
      for (const { queued, following } of open)
        if (queued.job.kind === 'run')
          following.onProgress({ kind: 'run_queued', run: queued.job.run, place });
      this.#watching ??= this.#watch();
    } catch (error) {
      const reason = explainWriteRefusal(error, this.#address);
      for (const { reject } of given) reject(reason);
    }
  }

  async #follow(given: Given): Promise<void> {
    const { next, ...queued } = given.queued;
    const id = jobId(queued.job);
    this.#followed.set(id, given);
    this.#queued.set(id, given.queued);
    if (next !== undefined) {
      this.#queued.set(jobId(next), { ...queued, job: next });
      this.#gradings.set(jobId(next), null);
    }
    // A grading that followed its run may have ended before anybody requested it.
    const end = this.#gradings.get(id) ?? null;
    this.#gradings.delete(id);
    if (end !== null) await this.#ended(id, given, end.problem);
  }

  /** Sends local changes of the run to the store first, for the worker that will execute it. */
  async #send(given: Given): Promise<void> {
    const { job } = given.queued;
    const copy = this.#copy;
    if (copy === null || !this.#followed.has(jobId(job))) return;
    try {
      if (job.kind === 'run' && job.parent_experiment !== undefined) {
        const { parent_experiment: _, ...resumed } = job;
        await beginFork(job, this.#place.experiment, copy, this.#place.signal);
        given.queued = { ...given.queued, job: resumed };
      }
      await copy.send(job.run.id);
    } catch (error) {
      this.#followed.delete(jobId(job));
      given.resolve({ record: null, problem: messageOf(error) });
    }
  }

  async #watch(): Promise<void> {
    const { signal } = this.#closing;
    let swept = performance.now();
    while (!signal.aborted) {
      await sleep(pollMs, undefined, { signal }).catch(() => {});
      if (signal.aborted || this.#followed.size === 0) continue;
      try {
        await this.#readEnds();
        if (performance.now() - swept < sweepMs) continue;
        await this.#sweep();
        await this.#lookAtWorkers();
        swept = performance.now();
      } catch (error) {
        if (!signal.aborted && !isCut(error)) this.#place.log(`Redis: ${messageOf(error)}`);
      }
    }
  }

  async #readEnds(): Promise<void> {
    const ended: Promise<void>[] = [];
    for (const [id, text] of await this.#ends.next()) {
      // Without a readable result, the store decides what happened to it.
      const end = parsedAs(JobEnd, text);
      const given = this.#followed.get(id);
      if (end === null) continue;
      if (given !== undefined) ended.push(this.#ended(id, given, end.problem));
      else if (this.#gradings.has(id)) this.#gradings.set(id, end);
    }
    await Promise.all(ended);
  }

  /** Handles jobs that are missing in Redis. */
  async #sweep(): Promise<void> {
    const followed = [...this.#followed];
    const present = await this.#queue.present(followed.map(([, { queued }]) => queued));
    await this.#readEnds();
    const lost: Queued[] = [];
    for (const [id, given] of followed) {
      if (!this.#followed.has(id)) continue;
      given.missed = present.has(id) ? 0 : given.missed + 1;
      if (given.missed < maxMisses) continue;
      given.missed = 0;
      await this.#whyNotFetched(given.queued.job.run.id);
      if (!this.#followed.has(id)) continue;
      const result = storedResult(given.queued.job, this.#place.experiment, given.updated);
      if (result === null) lost.push(given.queued);
      else await this.#ended(id, given, result.problem);
    }
    if (lost.length === 0) return;
    this.#place.log(`Redis knows nothing of ${lost.length} jobs any more: they are queued again.`);
    await this.#queue.add(lost);
  }

  /** Reports where runs are; and once, until this changes, that no worker is there for a job. */
  async #lookAtWorkers(): Promise<void> {
    if (this.#followed.size === 0) return;
    const workers = await workersThere(this.#redis);
    const jobs = [...this.#followed.values()];
    const { shown } = this.#address;
    tellPlaces(jobs, workers, this.#place.experiment.folder, shown, this.#place.log);
    const working = workers.filter(({ state }) => state === 'working');
    const told = unwantedText(jobs, working, shown);
    if (told !== this.#told && told !== '') this.#place.log(told);
    this.#told = told;
  }

  async #ended(id: string, { queued, following, resolve }: Given, told: string | null): Promise<void> {
    this.#followed.delete(id);
    const { job } = queued;
    const { run } = job;
    const notFetched = await this.#whyNotFetched(run.id);
    const problem = told ?? notFetched;
    const folder = this.#place.experiment.runFolder(run.id);
    const record = readableRecord(folder);
    if (job.kind === 'grade') {
      if (problem === null)
        following.onProgress({ kind: 'run_graded', run, grades: folder.readGrades().grades });
      else following.onProgress({ kind: 'run_not_graded', run, message: problem, error: 'redis' });
    } else if (record !== null && record.status !== 'running')
      following.onProgress({ kind: 'run_ended', run, record });
    resolve({ record, problem, ...(problem === cancelledProblem ? { isCancelled: true } : {}) });
  }

  async #whyNotFetched(run: string): Promise<string | null> {
    try {
      await this.#copy?.fetch(run);
      return null;
    } catch (error) {
      return `not fetched: ${messageOf(error)}`;
    }
  }

  #tellBegun(text: string): void {
    const begun = parsedAs(RunNotice, text);
    if (begun === null) return;
    // Those that begin are among the first: jobs that ended are followed no more.
    for (const given of this.#followed.values()) {
      const { kind, run } = given.queued.job;
      if (kind !== 'run' || run.id !== begun.run) continue;
      if (begun.held === undefined) tellPlace(given, begun.place);
      else tellHeld(given, begun.held, this.#place.log);
      break;
    }
  }
}
