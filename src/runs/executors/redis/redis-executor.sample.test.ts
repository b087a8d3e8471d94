import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisServer, whyNoRedis } from '../../../../test/fixtures/redis/server.ts';
import { examplePlan, exampleRecord, exampleSpec } from '../../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { ModelRegistry } from '../../../models/index.ts';
import type { ExperimentQuota, RunJob } from '../../../schema/index.ts';
import { createExperiment, type Experiment } from '../../../store/index.ts';
import { redisAddress } from './address.ts';
import { connectRedis } from './connection.ts';
import { FleetQuota } from './fleet-quota.ts';
import { JobQueue } from './job-queue.ts';
import { experimentKey } from './keys.ts';
import { RedisExecutor } from './redis-executor.ts';

const missing = whyNoRedis();
const never = new AbortController().signal;

describe.skipIf(missing !== null)(
  `commands that give jobs to a Redis${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: RedisServer;
    let redis: Redis;

    beforeAll(async () => {
      server = await RedisServer.start();
      redis = await connectRedis(redisAddress(server.url, {}), never);
    });
    afterAll(async () => {
      redis?.disconnect();
      await server?.[Symbol.asyncDispose]();
    });

    const begun = () => createExperiment(join(temporaryFolder(), 'first'), examplePlan());

    /** What `mlab run` does with the experiment. */
    async function command(experiment: Experiment, spend: ExperimentQuota = {}): Promise<RedisExecutor> {
      const registry = new ModelRegistry({ providers: {}, prices: {}, variables: {}, folder: '/' });
      return await RedisExecutor.open(redisAddress(server.url, {}), {
        ...{ experiment, settings: {}, parallel: undefined, command: [], variables: {} },
        ...{ models: { registry, spend }, log: () => {}, onOutage: () => {}, signal: never },
      });
    }

    /** What a worker without the runs of the experiment may still spend, for a job with these limits. */
    function quotaOf(experiment: Experiment, limits: ExperimentQuota): FleetQuota {
      return new FleetQuota({
        ...{ redis, experiment: experimentKey(experiment.folder), worker: 'worker', limits },
        spent: () => {
          throw new Error('nobody counted');
        },
      });
    }

    function jobOf({ folder }: Experiment, changes: Partial<RunJob> = {}): RunJob {
      const run = exampleSpec();
      return {
        ...{ v: 1, kind: 'run', mlab: '', experiment: folder, archived_attempts: 0, run, quota: {} },
        task: { id: run.task, version: '1', folder: '' },
        provisioning: { allow_unverified: false },
        resources: { cores: 1, memory_mb: 1, gpu: false, threads: 1, exclusive: false },
        ...changes,
      };
    }

    const follow = (executor: RedisExecutor, job: RunJob) =>
      executor.execute(job, { signal: never, onProgress: () => {} });

    async function untilQueued(experiment: Experiment): Promise<void> {
      await until('the job is queued', async () => (await queuedOf(experiment)).size > 0, 5);
    }

    /** What a worker does when a job has ended, and an earlier one that dies before it tells the result. */
    async function end(experiment: Experiment, problem?: string): Promise<void> {
      await using queue = new JobQueue(redis);
      if (problem !== undefined)
        await queue.tellEnd({ job: jobOf(experiment), labels: [] }, { problem, worker: '' });
      await queue.removeAll(experimentKey(experiment.folder));
    }

    /** The jobs of an experiment in Redis, by their keys. */
    async function queuedOf({ folder }: Experiment): Promise<Map<string, RunJob>> {
      const found = await redis.keys(`mlab:jobs-*:${experimentKey(folder)}.*`);
      const jobs = found
        .filter((key) => !key.endsWith(':lock'))
        .map(async (key) => [key, JSON.parse((await redis.hget(key, 'data')) ?? '{}').job] as const);
      return new Map(await Promise.all(jobs));
    }

    test('count what is spent when a later one sets the first limit', async () => {
      const experiment = begun();
      await (await command(experiment))[Symbol.asyncDispose]();
      await using _ = await command(experiment, { tokens: 100 });
      const quota = quotaOf(experiment, { tokens: 100 });
      expect(await quota.reserveWhenFree({ tokens: 10, money: 0 }, never)).toMatchObject({
        kind: 'reserved',
      });
    });

    test('set the limits of the whole experiment anew, also for jobs that earlier ones gave', async () => {
      const experiment = begun();
      const quota = quotaOf(experiment, { tokens: 100 });
      const reserve = async (tokens: number, money: number | null = 0) => {
        const result = await quota.reserveWhenFree({ tokens, money }, never);
        if (result.kind === 'reserved') result.reservation.release();
        await quota.settled();
        return result;
      };
      const limit = async (spend?: ExperimentQuota) => {
        await using _ = await command(experiment, spend);
      };
      await limit({ tokens: 100 });
      await limit({ tokens: 20 });
      expect(await reserve(50)).toMatchObject({
        message: 'the experiment may use 20 tokens; 20 are left, and the next call may need 50',
      });
      await limit({ tokens: 200 });
      expect(await reserve(150)).toMatchObject({ kind: 'reserved' });
      await limit({ money: 5 });
      expect(await reserve(1000)).toMatchObject({ kind: 'reserved' });
      const message = expect.stringMatching(/ \$5, but the price/);
      expect(await reserve(1000, null)).toMatchObject({ exceeded: 'money', message });
      await limit();
      expect(await reserve(1000, null)).toMatchObject({ kind: 'reserved' });
    });

    test('give jobs that still wait what changed since they were queued', async () => {
      const experiment = begun();
      const quotas: ExperimentQuota[] = [{}, { tokens: 10 }];
      for (const quota of quotas) {
        await using executor = await command(experiment, quota);
        void follow(executor, jobOf(experiment, { quota }));
        await until(
          'the job has its limits',
          async () => {
            const [job] = (await queuedOf(experiment)).values();
            return job !== undefined && job.quota.tokens === quota.tokens;
          },
          5,
        );
      }
      expect((await queuedOf(experiment)).size).toBe(1);
    });

    test('move a job that still waits to the needs of the last command, and leave one that is executed where it is', async () => {
      const experiment = begun();
      const withCores = (cores: number) =>
        jobOf(experiment, {
          resources: { cores, memory_mb: 1, gpu: false, threads: 1, exclusive: false },
        });
      const queues = async () => [...(await queuedOf(experiment)).keys()].map((key) => key.split(':')[1]);
      await using first = await command(experiment);
      const results = [follow(first, withCores(1))];
      await untilQueued(experiment);
      await using second = await command(experiment);
      results.push(follow(second, withCores(2)));
      await until('it has moved', async () => (await queues()).includes('jobs-2-1-0-1-shared'), 5);
      expect(await queues()).toEqual(['jobs-2-1-0-1-shared']);

      const worker = new Worker('jobs-2-1-0-1-shared', null, {
        ...{ connection: redis, prefix: 'mlab', autorun: false },
      });
      const taken = await worker.getNextJob('a worker', { block: false });
      expect(taken?.data.job.resources.cores).toBe(2);
      await using third = await command(experiment);
      results.push(follow(third, withCores(3)));
      // Longer than a command waits until it queues a job again that is missing.
      await sleep(12_000);
      expect(await queues()).toEqual(['jobs-2-1-0-1-shared']);
      await taken?.moveToCompleted('', 'a worker', false);
      await worker.close(true);
      await end(experiment, 'over');
      for (const result of results) expect(await result).toMatchObject({ problem: 'over' });
    });

    test('all get the result of a job that several follow, whichever reads it first, and whoever begins meanwhile', async () => {
      const experiment = begun();
      const job = jobOf(experiment);
      await using first = await command(experiment);
      await using second = await command(experiment);
      const results = [follow(first, job), follow(second, job)];
      await untilQueued(experiment);
      await sleep(300);
      await end(experiment, 'the first problem');
      await using third = await command(experiment);
      for (const result of results) expect(await result).toMatchObject({ problem: 'the first problem' });
      const again = follow(third, job);
      await untilQueued(experiment);
      expect(await Promise.race([again, sleep(600, 'open')])).toBe('open');
      await end(experiment, 'the second problem');
      expect(await again).toMatchObject({ problem: 'the second problem' });
    });

    test('queue a job again that Redis lost, unless its run has failed since', async () => {
      const experiment = begun();
      const folder = experiment.runFolder(exampleSpec().id);
      const failed = { status: 'failed' as const, updated: 1 };
      folder.writeRecordSync(exampleRecord(failed));
      await using executor = await command(experiment);
      const result = follow(executor, jobOf(experiment));
      await untilQueued(experiment);
      await end(experiment);
      await until('it is queued again', async () => (await queuedOf(experiment)).size > 0, 20);
      await end(experiment);
      const reason = { reason: 'infrastructure_error' as const, message: 'no space' };
      folder.writeRecordSync(exampleRecord({ ...failed, updated: 2, end: reason }));
      expect(await result).toMatchObject({ problem: 'no space', record: { updated: 2 } });
      expect(await queuedOf(experiment)).toEqual(new Map());
    });
  },
);
