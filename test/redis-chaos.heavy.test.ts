import { expect, test } from 'vitest';
import { TaskBench } from './fixtures/fixture-task.ts';
import { chaos } from './fixtures/redis/chaos/chaos.ts';
import { whyNoNetwork } from './fixtures/redis/chaos/network.ts';
import { whyNoRedis } from './fixtures/redis/server.ts';

const missing = whyNoRedis() ?? whyNoNetwork();

test.skipIf(missing !== null)(
  `workers of a Redis lose no run and no step, and keep to quotas, while they are killed, frozen and cut off, disks fill and Redis is killed${missing === null ? '' : ` (skipped: ${missing})`}`,
  async ({ signal }) => {
    using bench = new TaskBench();
    await bench.provision();
    const { made, ends, faults } = await chaos({
      ...{ bench, workers: 3, isApart: false, stalledAfterSeconds: 2, signal, seed: 4 },
      ...{ idle: 20, real: 3, rounds: 3, roundSeconds: 0.3, seconds: 6, pauseMs: 400, longestMs: 2_000 },
    });
    expect(faults).toEqual([]);
    expect(Object.keys(made).length).toBeGreaterThan(0);
    expect(ends.final_answer).toBeGreaterThanOrEqual(23);
  },
  300_000,
);
