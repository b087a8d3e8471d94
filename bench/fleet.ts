import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../src/lib/errors.ts';
import { mean } from '../src/statistics/index.ts';
import { openExperiment } from '../src/store/index.ts';
import { fixtureTasks, TaskBench } from '../test/fixtures/fixture-task.ts';
import { mlab, startMlab } from '../test/fixtures/mlab-process.ts';
import { RedisServer, whyNoRedis } from '../test/fixtures/redis/server.ts';
import { type BenchContext, type Benchmark, type Measurement, median } from './benchmark.ts';

export const fleet: Benchmark = {
  name: 'fleet',
  summary: 'what a job costs over a Redis, and how much more two workers do than one',
  async measure({ quick, log, signal }) {
    const missing = whyNoRedis();
    if (missing !== null) throw new UserError('no_redis', `Not measured: ${missing}.`, 'Install it.');
    using place = new FleetPlace();
    await place.provision();
    await using redis = await RedisServer.start();
    const runs = quick ? 20 : 200;
    await using workers = new AsyncDisposableStack();
    for (const labels of [['first'], []]) workers.use(await place.startWorker(redis.url, labels, signal));
    const over = ['--on', redis.url];
    // The settings of jobs that only the first worker takes.
    const byFirst = [place.labelled('first'), ...over];
    // A worker reads its task and its programs only once.
    await place.millisecondsARun('warm-first', 20, ...byFirst);
    await place.millisecondsARun('warm', 40, ...over);
    const rounds: Round[] = [];
    // In turns, so that other load of the machine affects all alike.
    for (let round = 1; round <= (quick ? 1 : 5); round += 1) {
      log(`round ${round}: ${runs} runs each in one process, in two, by one worker and by two`);
      const run = (name: string, flags: string[]) =>
        place.millisecondsARun(`${name}-${round}`, runs, ...flags);
      const alone = ['--parallel', '1'];
      rounds.push({
        here: await run('here', alone),
        apart: mean(await Promise.all(['one', 'other'].map((name) => run(name, alone)))),
        one: await run('by-one', byFirst),
        two: await run('by-two', over),
      });
    }
    const many = await simulated(place, redis.url, workers, { quick, log, signal });
    const middle = (key: keyof Round) => median(rounds.map((round) => round[key]));
    const [here, apart, one, two] = [middle('here'), middle('apart'), middle('one'), middle('two')];
    const note = `from the start of the first to the end of the last of ${runs} runs that do nothing, one at a time; medians of ${rounds.length} rounds`;
    return [
      {
        what: 'a run by one worker, beyond one of a process',
        ...{ value: one - here, unit: 'ms', atMost: 15 },
        note: `${note}; in one process ${here.toFixed(1)} ms a run`,
      },
      {
        what: 'time of two workers, of half that of one',
        ...{ value: (2 * two) / one, unit: 'times', atMost: 1 / 0.9 },
        note: `${one.toFixed(1)} and ${two.toFixed(1)} ms a run; Redis and mlab run are at work beside them`,
      },
      {
        what: 'the same of two processes that share nothing but the machine',
        ...{ value: apart / here, unit: 'times', atMost: null },
        note: `${apart.toFixed(1)} ms a run of each: what this machine allows`,
      },
      {
        what: 'the loss of two workers, relative to that of these two processes',
        ...{ value: (2 * two * here) / (one * apart), unit: 'times', atMost: 1 / 0.9 },
        note: 'what is lost to mlab and Redis, not to the shared cores',
      },
      ...many,
    ];
  },
};

const waiting = { seconds: 2, slots: 8, turns: 4 } as const;

/**
 * More workers than the machine has cores: their runs only wait, so what limits them is Redis and `mlab run`, which
 * follows all of them.
 */
async function simulated(
  place: FleetPlace,
  url: string,
  workers: AsyncDisposableStack,
  { quick, log, signal }: Pick<BenchContext, 'quick' | 'log' | 'signal'>,
): Promise<Measurement[]> {
  const { seconds, slots, turns } = waiting;
  const found: Measurement[] = [];
  let started = 0;
  let first: number | undefined;
  for (const count of quick ? [1, 2] : [1, 4, 8]) {
    for (; started < count; started += 1)
      workers.use(await place.startWorker(url, ['waiting'], signal, slots));
    const runs = count * slots * turns;
    log(`${runs} runs that wait ${seconds} s, by ${count} workers with ${slots} places each`);
    const flags = [...place.waitingFlags(seconds), '--on', url];
    const took = (runs * (await place.millisecondsARun(`waiting-${count}`, runs, ...flags))) / 1000;
    const speed = `${runs} runs of ${seconds} s in ${took.toFixed(1)} s: ${(runs / took).toFixed(1)} a second`;
    first ??= took;
    if (count > 1)
      found.push({
        what: `time of ${count} workers with ${slots} runs that only wait each, of that of one`,
        ...{
          value: took / first,
          unit: 'times',
          atMost: 1 / 0.9,
          note: `${speed}; of one ${first.toFixed(1)} s`,
        },
      });
  }
  return found;
}

/** Milliseconds a run. */
interface Round {
  /** In one process. */
  here: number;
  /** In two processes that work at the same time, for each. */
  apart: number;
  /** By one worker, and by two. */
  one: number;
  two: number;
}

class FleetPlace extends TaskBench {
  #workers = 0;
  readonly #flags = ['--task-dir', fixtureTasks, '--dir', this.experiments];

  /** The duration of each of some runs that do nothing, in milliseconds. */
  async millisecondsARun(name: string, runs: number, ...flags: string[]): Promise<number> {
    const agent = flags.includes('--agent') ? [] : ['--agent', 'noop'];
    const what = ['--task', 'sums', ...agent, '--seeds', `${runs}`, '--grade', 'none', '--sandbox', 'none'];
    const argv = ['run', ...what, '--name', name, ...flags, ...this.#flags];
    const { code, err } = await mlab(argv, this.#process);
    if (code !== 0) throw new Error(`mlab run ended with ${code}:\n${err.slice(-2_000)}`);
    const experiment = openExperiment(join(this.experiments, name));
    const records = experiment.runIds.map((id) => experiment.runFolder(id).readRecord());
    const began = Math.min(...records.map((record) => record?.started ?? Number.NaN));
    const ended = Math.max(...records.map((record) => record?.updated ?? Number.NaN));
    return (ended - began) / runs;
  }

  /** An experiment file for jobs that only workers with a label take. */
  labelled(label: string): string {
    const path = join(this.folder, `${label}.yaml`);
    writeFileSync(path, `executor: { redis: { labels: [${label}] } }\n`);
    return path;
  }

  /** For runs that only wait; only workers with the label `waiting` take them. */
  waitingFlags(seconds: number): string[] {
    const agent = join(import.meta.dirname, 'children/waiting-agent.ts');
    return [this.labelled('waiting'), '--agent', agent, '--agent-option', `seconds=${seconds}`, '--trust'];
  }

  /** A worker with places for this many jobs at a time; resolves when it is ready. */
  async startWorker(
    url: string,
    labels: readonly string[],
    signal: AbortSignal,
    places = 1,
  ): Promise<AsyncDisposable> {
    const machine = ['--cores', `${2 * places}`, '--memory', `${100_000 * places}`];
    const argv = ['worker', '--redis', url, '--parallel', `${places}`, ...machine, ...this.#flags];
    const worker = startMlab([...argv, ...labels.flatMap((label) => ['--label', label])], this.#process);
    this.#workers += 1;
    for (;;) {
      const { out } = await mlab(['workers', '--redis', url, '--json'], this.#process);
      if (JSON.parse(out).workers.length === this.#workers) break;
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
