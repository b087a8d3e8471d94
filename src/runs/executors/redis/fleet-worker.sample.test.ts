import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { RedisServer, whyNoRedis } from '../../../../test/fixtures/redis/server.ts';
import { exampleSpec } from '../../../../test/fixtures/store/examples.ts';
import type { Job } from '../../../schema/index.ts';

const missing = whyNoRedis();
const run = exampleSpec();
const job: Job = {
  ...{ v: 1, kind: 'run', mlab: '', experiment: '/experiments/stopped', archived_attempts: 0, run },
  ...{
    task: { id: run.task, version: '1', folder: '' },
    provisioning: { allow_unverified: false },
    quota: {},
  },
  resources: { cores: 1, memory_mb: 1, gpu: false, threads: 1, exclusive: false },
};

/** A process of its own: with a loop that never pauses, nothing else in it could say so. */
const source = (url: string) => `
const load = (module) => import(${JSON.stringify(`${import.meta.dirname}/`)} + module);
const { setTimeout: sleep } = await import('node:timers/promises');
const { redisAddress } = await load('address.ts');
const { connectRedis } = await load('connection.ts');
const { FleetWorker } = await load('fleet-worker.ts');
const { JobQueue } = await load('job-queue.ts');
const { Capacity } = await load('../../jobs/capacity.ts');
const stop = new AbortController();
const connect = () => connectRedis(redisAddress(${JSON.stringify(url)}, {}), stop.signal);
const [redis, listener] = [await connect(), await connect()];
const queue = new JobQueue(redis);
await queue.add([{ job: ${JSON.stringify(job)}, labels: [] }]);
await new FleetWorker({
  ...{ redis, listener, labels: [], mlab: '', stalledAfterMs: 3000, onReady() {}, log: console.error },
  capacity: new Capacity({ cores: 2, memory_mb: 2, gpus: 0, jobs: 2 }),
  async execute() {
    stop.abort();
    await sleep(200);
    return { record: null, problem: 'stopped' };
  },
}).run(stop.signal);
const [name] = (await queue.classes()).keys();
console.log(await queue.waiting(name), 'job waits');
await queue[Symbol.asyncDispose]();
redis.disconnect();
listener.disconnect();`;

test.skipIf(missing !== null)(
  `a worker that is told to stop in the moment when it takes a job returns the job${missing === null ? '' : ` (skipped: ${missing})`}`,
  async () => {
    await using server = await RedisServer.start();
    const argv = ['--input-type=module', '--eval', source(server.url)];
    const worker = promisify(execFile)(process.execPath, argv, { timeout: 20_000 });
    expect((await worker).stdout).toBe('1 job waits\n');
  },
  30_000,
);
