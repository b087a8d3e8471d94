import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { mlab, type StartedMlab, startMlab } from './fixtures/mlab-process.ts';
import { RedisServer, whyNoRedis } from './fixtures/redis/server.ts';
import { until } from './fixtures/until.ts';

const missing = whyNoRedis();
const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');

describe.skipIf(missing !== null)(
  `a Redis that refuses what mlab wants${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const bench = new TaskBench();
    let redis: RedisServer;
    let admin: Redis;
    const started: StartedMlab[] = [];
    const variables = { MLAB_CACHE: bench.cache };
    const places = ['--task-dir', fixtureTasks, '--dir', bench.experiments];

    beforeAll(async () => {
      await bench.provision();
      redis = await RedisServer.start();
      admin = new Redis(redis.url);
      admin.on('error', () => {});
    }, 60_000);
    afterEach(async () => {
      const all = started.splice(0);
      for (const { process } of all) process.kill('SIGKILL');
      await Promise.all(all.map(({ ended }) => ended));
      await accept();
    });
    afterAll(async () => {
      admin?.disconnect();
      await redis?.[Symbol.asyncDispose]();
      bench[Symbol.dispose]();
    });

    const called = (...argv: string[]) => mlab(argv, { folder: bench.folder, variables });
    const doctor = async () => await called('doctor', '--on', redis.url);

    async function refuseForMemory(): Promise<void> {
      await admin.config('SET', 'maxmemory', '1mb');
    }

    async function becomeReplica(): Promise<void> {
      await admin.replicaof('127.0.0.1', 1);
    }

    async function accept(): Promise<void> {
      await admin.replicaof('NO', 'ONE');
      await admin.config('SET', 'maxmemory', '0');
      await admin.config('SET', 'maxmemory-policy', 'noeviction');
    }

    function start(...argv: string[]): StartedMlab {
      const one = startMlab(argv, { folder: bench.folder, variables });
      started.push(one);
      return one;
    }

    function experimentFile(name: string, rounds = 1): string {
      const file = join(bench.folder, `${name}.yaml`);
      const agents = [{ name: agent, options: { rounds, seconds: 0.3 } }];
      writeFileSync(file, JSON.stringify({ name, tasks: ['sums'], agents, sandbox: 'none' }));
      return file;
    }

    function run(name: string, rounds: number): StartedMlab {
      return start('run', experimentFile(name, rounds), '--on', redis.url, ...places);
    }

    test.each([
      ['has no memory left', refuseForMemory, 'OOM command not allowed', 'Give it more memory'],
      ['is a replica', becomeReplica, 'READONLY', 'use the address of its primary'],
    ])(
      'that %s is named as what is missing by each command that writes, and by the check',
      async (_, refuse, answer, hint) => {
        const name = answer.startsWith('OOM') ? 'full' : 'copied';
        const following = run(name, 1);
        await until('it is queued', () => following.said().includes('No worker takes jobs'));
        following.process.kill('SIGKILL');
        await following.ended;
        await refuse();
        for (const argv of [
          ['run', experimentFile(`${name}-anew`), '--on', redis.url, ...places],
          ['run', experimentFile(name), '--on', redis.url, ...places],
          ['worker', '--redis', redis.url, '--task-dir', fixtureTasks],
          ['runs', 'cancel', name, '--on', redis.url, '--dir', bench.experiments],
        ]) {
          const { code, err } = await called(...argv);
          expect(code, err).toBe(3);
          expect(err).toMatch(/Redis at 127\.0\.0\.1:\d+ refuses to store anything: /);
          expect(err).toContain(answer);
          expect(err).toContain(hint);
          expect(err).not.toContain('bug');
        }
        const found = await doctor();
        expect(found.code, found.out).toBe(1);
        expect(found.out).toMatch(new RegExp(`Writes +.*refuses to store anything: ${answer}`));
        expect(found.out).toContain(hint);
        expect((await called('workers', '--redis', redis.url)).code).toBe(0);
        await accept();
        expect(
          (await called('runs', 'cancel', name, '--on', redis.url, '--dir', bench.experiments)).out,
        ).toContain('1 job was cancelled');
      },
    );

    test('or would lose it later, is reported by the check', async () => {
      const before = await admin.dbsize();
      expect((await doctor()).out).toMatch(/Role +primary[\s\S]*Memory +no maxmemory[\s\S]*Writes +accepted/);
      expect(await admin.dbsize()).toBe(before);
      await admin.config('SET', 'maxmemory', '100mb');
      expect((await doctor()).out).toMatch(/Memory +maxmemory 100\.00M, noeviction/);
      await admin.config('SET', 'maxmemory-policy', 'allkeys-lru');
      const evicting = await doctor();
      expect(evicting.out).toMatch(
        /Memory +maxmemory 100\.00M, allkeys-lru: when it is full, it silently deletes/,
      );
      expect(evicting.out).toContain('CONFIG SET maxmemory-policy noeviction');
      await becomeReplica();
      await admin.config('SET', 'replica-read-only', 'no');
      const replica = await doctor();
      await admin.config('SET', 'replica-read-only', 'yes');
      expect(replica.out).toMatch(/Role +a replica of 127\.0\.0\.1:1: /);
      expect(replica.out).toContain('use the address of its primary: redis://127.0.0.1:1');
    });
  },
);
