import { setTimeout as sleep } from 'node:timers/promises';
import { array, asyncProperty, assert as check, constant, integer, oneof, record } from 'fast-check';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisServer, whyNoRedis } from '../../../../test/fixtures/redis/server.ts';
import type { Reservation } from '../../../models/index.ts';
import { redisAddress } from './address.ts';
import { connectRedis } from './connection.ts';
import { FleetQuota, type FleetQuotaOptions, keepFleetPace } from './fleet-quota.ts';
import { keys } from './keys.ts';

const missing = whyNoRedis();
const never = new AbortController().signal;
const charge = (tokens: number) => ({
  usage: {
    ...{ input: tokens, cached_input: 0, cache_write: 0, output: 0, reasoning: 0 },
    source: 'provider' as const,
  },
  cost: null,
});

describe.skipIf(missing !== null)(
  `what workers keep together${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    let server: RedisServer;
    const connections: Redis[] = [];
    let experiments = 0;

    beforeAll(async () => {
      server = await RedisServer.start();
      for (let index = 0; index < 3; index += 1)
        connections.push(await connectRedis(redisAddress(server.url, {}), never));
    });
    afterAll(async () => {
      for (const redis of connections) redis.disconnect();
      await server?.[Symbol.asyncDispose]();
    });

    /** One quota for each worker, for a separate experiment. */
    function quotas(tokens: number, more: Partial<FleetQuotaOptions> = {}) {
      experiments += 1;
      const experiment = `experiment-${experiments}`;
      const all = connections.map(
        (redis, index) =>
          new FleetQuota({
            ...{ redis, experiment, worker: `worker-${index}`, limits: { tokens } },
            ...{ spent: () => ({ tokens: 0, money: 0 }), deadAfterMs: 300, ...more },
          }),
      );
      return { all, experiment };
    }

    async function sums(experiment: string): Promise<Record<string, number>> {
      const [redis] = connections;
      const found = Object.entries((await redis?.hgetall(keys.quota(experiment))) ?? {});
      return Object.fromEntries(found.map(([name, value]) => [name, Number(value)]));
    }

    test('the quota is never exceeded, whatever workers ask for, settle, release, or die with', async () => {
      const ask = record({
        worker: integer({ min: 0, max: 2 }),
        most: integer({ min: 1, max: 60 }),
        share: integer({ min: 0, max: 100 }),
        end: oneof(constant('settle'), constant('release'), constant('die'), constant('raise')),
      });
      const property = asyncProperty(array(ask, { maxLength: 25 }), async (asked) => {
        const { all, experiment } = quotas(100);
        let spent = 0;
        await Promise.all(
          asked.map(async ({ worker, most, share, end }) => {
            const quota = all[worker];
            const late = AbortSignal.timeout(40);
            const result = await quota
              ?.reserveWhenFree({ tokens: most, money: 0 }, late)
              .catch(() => undefined);
            if (result?.kind !== 'reserved') return;
            const { reservation } = result;
            const isRaised = end === 'raise' && (await reservation.raise({ tokens: most + 20, money: 0 }));
            const used = Math.floor(((isRaised ? most + 20 : most) * share) / 100);
            if (end !== 'release') spent += used;
            // A worker that dies was charged all the same, and reports nothing.
            if (end === 'release') reservation.release();
            else if (end !== 'die') reservation.settle(charge(used));
          }),
        );
        await Promise.all(all.map((quota) => quota.settled()));
        const { spent_tokens = 0, kept_tokens = 0 } = await sums(experiment);
        expect(spent).toBeLessThanOrEqual(spent_tokens + kept_tokens);
        expect(spent_tokens + kept_tokens).toBeLessThanOrEqual(100);
      });
      await check(property, { numRuns: 40 });
    });

    test('what a dead worker kept counts as spent, so that nobody waits for it; where it comes back, what it did not spend is free again', async () => {
      const { all, experiment } = quotas(100);
      const [dead, other] = all;
      const kept = await dead?.reserveWhenFree({ tokens: 80, money: 0 }, never);
      if (kept?.kind !== 'reserved') throw new Error('not reserved');
      const start = performance.now();
      const refused = await other?.reserveWhenFree({ tokens: 50, money: 0 }, never);
      expect(performance.now() - start).toBeGreaterThan(250);
      expect(refused).toMatchObject({ kind: 'exceeded', exceeded: 'tokens' });
      expect(await sums(experiment)).toMatchObject({ spent_tokens: 80, kept_tokens: 0 });
      kept.reservation.settle(charge(10));
      await dead?.settled();
      expect(await sums(experiment)).toMatchObject({ spent_tokens: 10, kept_tokens: 0 });
      expect(await other?.reserveWhenFree({ tokens: 50, money: 0 }, never)).toMatchObject({
        kind: 'reserved',
      });
    });

    test('a call that ends after Redis lost everything makes no quota that knows only of it', async () => {
      const { all, experiment } = quotas(100, { spent: () => ({ tokens: 95, money: 0 }) });
      const [one, other] = all;
      const kept = await one?.reserveWhenFree({ tokens: 5, money: 0 }, never);
      if (kept?.kind !== 'reserved') throw new Error('not reserved');
      await connections[0]?.del(keys.quota(experiment), keys.holds(experiment));
      kept.reservation.settle(charge(5));
      await one?.settled();
      expect(await other?.reserveWhenFree({ tokens: 20, money: 0 }, never)).toMatchObject({
        kind: 'exceeded',
      });
    });

    test('a call waits for those under way at workers that are there', async () => {
      const { all } = quotas(100);
      const [one, other] = all;
      const [redis] = connections;
      await redis?.set(keys.worker('worker-0'), '{}');
      const kept = await one?.reserveWhenFree({ tokens: 80, money: 0 }, never);
      if (kept?.kind !== 'reserved') throw new Error('not reserved');
      const waiting = other?.reserveWhenFree({ tokens: 50, money: 0 }, never);
      expect(await Promise.race([waiting, sleep(900, 'waits')])).toBe('waits');
      kept.reservation.settle(charge(20));
      expect(await waiting).toMatchObject({ kind: 'reserved' });
      await redis?.del(keys.worker('worker-0'));
    });

    test('sums survive that Redis is killed and started again, and commands wait for it', async () => {
      const { all, experiment } = quotas(100);
      const [one, other] = all;
      const reservations: Reservation[] = [];
      for (const quota of [one, other]) {
        const result = await quota?.reserveWhenFree({ tokens: 30, money: 0 }, never);
        if (result?.kind === 'reserved') reservations.push(result.reservation);
      }
      await server.stop('SIGKILL');
      for (const reservation of reservations) reservation.settle(charge(25));
      await server.resume();
      await Promise.all(all.map((quota) => quota.settled()));
      expect(await sums(experiment)).toMatchObject({ spent_tokens: 50, kept_tokens: 0 });
    });

    test('no more calls begin in a minute than the pace allows, whoever makes them', async () => {
      const begun: number[] = [];
      const pace = { calls: 4, milliseconds: 600 };
      const calls = connections.flatMap((redis) => Array.from({ length: 4 }, () => redis));
      await Promise.all(
        calls.map(async (redis) => {
          await keepFleetPace(redis, 'provider', pace, never);
          begun.push(performance.now());
        }),
      );
      // Redis counts when it lets a call begin; the worker learns of it a moment later.
      begun.forEach((time, index) => {
        const fifth = begun[index + pace.calls];
        if (fifth !== undefined) expect(fifth - time).toBeGreaterThan(pace.milliseconds - 100);
      });
      expect(begun).toHaveLength(12);
    });
  },
);
