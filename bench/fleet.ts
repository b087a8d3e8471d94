import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../src/lib/errors.ts';
import { mean } from '../src/statistics/index.ts';
import { openExperiment } from '../src/store/index.ts';
import { fixtureTasks, TaskBench } from '../test/fixtures/fixture-task.ts';
import { mlab, startMlab } from '../test/fixtures/mlab-process.ts';
import { RedisServer, whyNoRedis } from '../test/fixtures/redis/server.ts';
import type { Benchmark } from './benchmark.ts';

export const fleet: Benchmark = {
  name: 'fleet',
  summary: 'what a job costs over a Redis, and how much more two workers do than one',
  async measure({ quick, log, signal }) {
    const missing = whyNoRedis();
    if (missing !== null) throw new UserError('no_redis', `Not measured: ${missing}.`, 'Install it.');
    using place = new FleetPlace();
    await place.provision();
    await using redis = await RedisServer.start();
    const runs = quick ? 20 : 500;
    log(`${runs} runs in one process`);
    const alone = ['--parallel', '1'];
    const here = await place.millisecondsARun('local', runs, ...alone);
    log(`${runs} runs in each of two processes`);
    const apart = ['one', 'other'].map((name) => place.millisecondsARun(name, runs, ...alone));
    const besideEachOther = mean(await Promise.all(apart));
    await using workers = new AsyncDisposableStack();
    const perRun: number[] = [];
    for (const count of [1, 2]) {
      workers.use(await place.startWorker(redis.url, count, signal));
      // A worker reads its task and its programs only once.
      await place.millisecondsARun(`first-${count}`, 20, '--on', redis.url);
      log(`${runs} runs by ${count} of the workers of a Redis`);
      perRun.push(await place.millisecondsARun(`fleet-${count}`, runs, '--on', redis.url));
    }
    const [one = 0, two = 0] = perRun;
    const note = `from the start of the first to the end of the last of ${runs} runs that do nothing, one at a time`;
    return [
      {
        ...{
          what: 'a run by one worker, beyond one of a process',
          value: one - here,
          unit: 'ms',
          atMost: 15,
        },
        note: `${note}; in one process ${here.toFixed(1)} ms a run`,
      },
      {
        ...{ what: 'time of two workers, of half that of one', value: two / (one / 2), unit: 'times' },
        ...{
          atMost: 1 / 0.9,
          note: `${one.toFixed(1)} and ${two.toFixed(1)} ms a run; Redis and mlab run are at work beside them`,
        },
      },
      {
        ...{ what: 'the same of two processes that share nothing but the machine', unit: 'times' },
        ...{ value: besideEachOther / here, atMost: null },
        note: `${besideEachOther.toFixed(1)} ms a run of each; no workers can do better than this here`,
      },
    ];
  },
};

class FleetPlace extends TaskBench {
  readonly #flags = ['--task-dir', fixtureTasks, '--dir', this.experiments];

  /** The duration of each of some runs that do nothing, in milliseconds. */
  async millisecondsARun(name: string, runs: number, ...flags: string[]): Promise<number> {
    const what = [
      '--task',
      'sums',
      '--agent',
      'noop',
      '--seeds',
      `${runs}`,
      '--grade',
      'none',
      '--sandbox',
      'none',
    ];
    const { code, err } = await mlab(
      ['run', ...what, '--name', name, ...flags, ...this.#flags],
      this.#process,
    );
    if (code !== 0) throw new Error(`mlab run ended with ${code}:\n${err.slice(-2_000)}`);
    const experiment = openExperiment(join(this.experiments, name));
    const records = experiment.runIds.map((id) => experiment.runFolder(id).readRecord());
    const began = Math.min(...records.map((record) => record?.started ?? Number.NaN));
    const ended = Math.max(...records.map((record) => record?.updated ?? Number.NaN));
    return (ended - began) / runs;
  }

  /** A worker that takes one job at a time; resolves when it is ready. */
  async startWorker(url: string, count: number, signal: AbortSignal): Promise<AsyncDisposable> {
    const argv = ['worker', '--redis', url, '--parallel', '1', '--cores', '2', ...this.#flags];
    const worker = startMlab(argv, this.#process);
    for (;;) {
      const { out } = await mlab(['workers', '--redis', url, '--json'], this.#process);
      if (JSON.parse(out).workers.length === count) break;
      await sleep(200, undefined, { signal });
    }
    return {
      [Symbol.asyncDispose]: async () => {
        worker.process.kill('SIGTERM');
        await worker.ended;
      },
    };
  }

  get #process() {
    return { folder: this.folder, variables: { MLAB_CACHE: this.cache } };
  }
}
