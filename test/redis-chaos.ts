import { parseArgs } from 'node:util';
import { TaskBench } from './fixtures/fixture-task.ts';
import { chaos } from './fixtures/redis/chaos/chaos.ts';
import { whyNoClocks } from './fixtures/redis/chaos/machine.ts';
import { whyNoNetwork } from './fixtures/redis/chaos/network.ts';
import { whyNoRedis } from './fixtures/redis/server.ts';

/**
 * The long form of `redis-chaos.heavy.test.ts`: six workers, each on a simulated machine, execute runs while they are
 * killed, frozen and cut off, disks fill, clocks jump and Redis is killed. With the defaults it takes a quarter of an
 * hour on two cores: `node test/redis-chaos.ts`. A minute: `--idle 60 --real 10 --seconds 40`. Ends with code 0 if no
 * run was lost and no step was taken twice.
 */
const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '10000' },
    real: { type: 'string', default: '150' },
    seconds: { type: 'string', default: '600' },
    seed: { type: 'string', default: '1' },
    longest: { type: 'string', default: '60' },
    keep: { type: 'string' },
    pause: { type: 'string', default: '3' },
  },
});
const missing = whyNoRedis() ?? whyNoNetwork();
if (missing === null) {
  const start = performance.now();
  const log = (line: string) =>
    console.log(`${((performance.now() - start) / 1000).toFixed(0).padStart(5)} s  ${line}`);
  if (whyNoClocks !== null) log(whyNoClocks);
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  using bench = new TaskBench();
  await bench.provision();
  const { faults, ...facts } = await chaos({
    ...{ bench, log, workers: 6, isApart: true, stalledAfterSeconds: 15, signal: interrupted.signal },
    ...{ idle: Number(values.idle), real: Number(values.real), seconds: Number(values.seconds) },
    ...{ seed: Number(values.seed), longestMs: Number(values.longest) * 1000 },
    ...{ rounds: 8, roundSeconds: 0.5 },
    keep: values.keep,
    pauseMs: Number(values.pause) * 1000,
  });
  log(JSON.stringify(facts));
  for (const fault of faults) log(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
} else console.log(`skipped: ${missing}`);
