import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisServer, whyNoRedis } from '../../../../test/fixtures/redis/server.ts';
import { examplePlan } from '../../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { ModelRegistry } from '../../../models/index.ts';
import type { ExperimentQuota } from '../../../schema/index.ts';
import { createExperiment, type Experiment } from '../../../store/index.ts';
import { redisAddress } from './address.ts';
import { connectRedis } from './connection.ts';
import { FleetQuota } from './fleet-quota.ts';
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

    test('count what is spent when a later one sets the first limit', async () => {
      const experiment = begun();
      await (await command(experiment))[Symbol.asyncDispose]();
      await using _ = await command(experiment, { tokens: 100 });
      const quota = quotaOf(experiment, { tokens: 100 });
      expect(await quota.reserveWhenFree({ tokens: 10, money: 0 }, never)).toMatchObject({
        kind: 'reserved',
      });
    });
  },
);
