import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parsedAs } from '../../../lib/json-values.ts';
import { GradeJob, Job, JobResources } from '../../../schema/index.ts';
import { evenIfCut } from './connection.ts';
import { type JobEnd, tellEnds } from './job-ends.ts';
import { experimentKey, jobId, keys, prefix, runOf } from './keys.ts';
import { renewScript } from './scripts.ts';

/** A queue entry: a job, and the grading that follows if it ends well. */
export const Queued = z.strictObject({
  job: Job,
  next: GradeJob.optional(),
  labels: z.array(z.string()),
  /** The store with the experiment; absent: its folder is shared. */
  artifacts: z.string().optional(),
});
export type Queued = z.infer<typeof Queued>;

/** Jobs with equal needs share a queue, so a worker takes only from queues whose jobs it has room for. */
export const JobClass = z.strictObject({ resources: JobResources, labels: z.array(z.string()) });
export type JobClass = z.infer<typeof JobClass>;

/** The problem of a job that was cancelled. */
export const cancelledProblem = 'cancelled';

const atOnce = 500;

/** The jobs that wait in Redis. Must be closed, which does not close the connection. */
export class JobQueue implements AsyncDisposable {
  readonly #redis: Redis;
  readonly #queues = new Map<string, Queue>();

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Queues the jobs that are not queued yet, gradings first. Those that wait become as they are given now. */
  async add(all: readonly Queued[]): Promise<void> {
    const others = await this.#takeBack(all);
    const here = all.filter(({ job }) => !others.has(jobId(job)));
    for (const [name, group] of Map.groupBy(here, queueName)) {
      const [first] = group;
      if (first === undefined) continue;
      await this.#redis.hset(keys.queues, name, JSON.stringify(classOf(first)));
      for (let at = 0; at < group.length; at += atOnce) {
        const part = group.slice(at, at + atOnce);
        const jobs = part.map((queued) => ({
          name: queued.job.kind,
          data: queued,
          opts: {
            ...{ jobId: jobId(queued.job), lifo: queued.job.kind === 'grade' },
            ...{ removeOnComplete: true, removeOnFail: true },
          },
        }));
        // Jobs that are already queued keep their place.
        await Promise.all(part.map((queued) => this.#renew(queued)));
        await evenIfCut(async () => await (await this.#queue(name)).addBulk(jobs));
      }
    }
    await this.#redis.publish(keys.news, '');
  }

  /**
   * Removes the jobs of an experiment that nobody is executing.
   * @param experiment as `experimentKey` names it
   * @param runs default: all; who follows the jobs of these is told that they are cancelled
   * @returns how many jobs it had, and how many workers still execute
   */
  async removeAll(experiment: string, runs?: ReadonlySet<string>): Promise<{ jobs: number; active: number }> {
    const counts = { jobs: 0, active: 0 };
    for (const name of (await this.classes()).keys()) {
      const queue = await this.#queue(name);
      const all = new Set(await queue.getRanges(['active', 'wait', 'prioritized', 'delayed'], 0, -1));
      const ids = [...all].filter((id) => id.startsWith(`${experiment}.`) && runs?.has(runOf(id)) !== false);
      counts.jobs += ids.length;
      for (let at = 0; at < ids.length; at += atOnce) {
        const part = ids.slice(at, at + atOnce);
        const removed = await Promise.all(part.map((id) => queue.remove(id)));
        counts.active += removed.filter((isRemoved) => isRemoved === 0).length;
        if (runs !== undefined)
          await tellEnds(
            this.#redis,
            experiment,
            part.filter((_, index) => removed[index] === 1),
            { problem: cancelledProblem, worker: '' },
          );
      }
    }
    return counts;
  }

  /** Which of these jobs are waiting or being executed, perhaps with the needs that another command gave them. */
  async present(all: readonly Queued[]): Promise<Set<string>> {
    return await this.#presentIn([...(await this.classes()).keys()], all);
  }

  /**
   * Takes jobs that wait with other needs, which an earlier command gave them, out of their queues.
   * @returns the ids of those that are being executed: they are not queued again
   */
  async #takeBack(all: readonly Queued[]): Promise<Set<string>> {
    const executed = new Set<string>();
    for (const name of (await this.classes()).keys()) {
      const foreign = all.filter((queued) => queueName(queued) !== name);
      for (const id of await this.#presentIn([name], foreign))
        if ((await (await this.#queue(name)).remove(id)) === 0) executed.add(id);
    }
    return executed;
  }

  async #presentIn(queues: readonly string[], all: readonly Queued[]): Promise<Set<string>> {
    const found = new Set<string>();
    if (queues.length === 0) return found;
    const ids = all.map(({ job }) => jobId(job));
    for (let at = 0; at < ids.length; at += atOnce) {
      const part = ids.slice(at, at + atOnce);
      const asked = part.map((id) => this.#redis.exists(queues.map((name) => jobKey(name, id))));
      const counts = await Promise.all(asked);
      for (const [index, id] of part.entries()) if (counts[index] !== 0) found.add(id);
    }
    return found;
  }

  /** All queues that were ever used. */
  async classes(): Promise<Map<string, JobClass>> {
    const found = new Map<string, JobClass>();
    for (const [name, text] of Object.entries(await this.#redis.hgetall(keys.queues))) {
      // Another version of mlab may have other fields: its queues are left to its workers.
      const jobs = parsedAs(JobClass, text);
      if (jobs !== null) found.set(name, jobs);
    }
    return found;
  }

  async waiting(name: string): Promise<number> {
    return await this.#redis.llen(`${prefix}:${name}:wait`);
  }

  async tellEnd({ job }: Queued, end: JobEnd): Promise<void> {
    await tellEnds(this.#redis, experimentKey(job.experiment), [jobId(job)], end);
  }

  /** A command may set other limits, prices or providers than the one that queued the job. */
  async #renew(queued: Queued): Promise<void> {
    const key = jobKey(queueName(queued), jobId(queued.job));
    await this.#redis.eval(renewScript, 1, key, JSON.stringify(queued));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.close().catch(() => {})));
  }

  async #queue(name: string): Promise<Queue> {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const made = new Queue(name, { connection: this.#redis, prefix });
    made.on('error', () => {});
    // One that lost its connection while it was created never works, and is not kept.
    await made.waitUntilReady();
    const first = this.#queues.get(name) ?? made;
    this.#queues.set(name, first);
    return first;
  }
}

function classOf({ job, labels }: Queued): JobClass {
  return { resources: job.resources, labels: [...new Set(labels)].sort() };
}

function queueName(queued: Queued): string {
  const { resources, labels } = classOf(queued);
  const { cores, memory_mb: memory, gpu, gpus = gpu ? 1 : 0, threads, exclusive } = resources;
  return ['jobs', cores, memory, gpus, threads, exclusive ? 'alone' : 'shared', ...labels].join('-');
}

function jobKey(queue: string, id: string): string {
  return `${prefix}:${queue}:${id}`;
}
