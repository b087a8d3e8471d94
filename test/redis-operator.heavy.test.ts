import { spawn } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { launcher, mlab, type StartedMlab, startMlab } from './fixtures/mlab-process.ts';
import { RedisServer, whyNoRedis } from './fixtures/redis/server.ts';
import { until } from './fixtures/until.ts';

const missing = whyNoRedis();
const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');
const password = 'pass-phrase-of-redis';

/** What the operator of a fleet learns, and can do from another terminal. */
describe.skipIf(missing !== null)(
  `the operator of Redis workers${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const bench = new TaskBench();
    let redis: RedisServer;
    const started: StartedMlab[] = [];
    const variables = { MLAB_CACHE: bench.cache, MLAB_REDIS_PASSWORD: password };
    const places = ['--task-dir', fixtureTasks, '--dir', bench.experiments];

    beforeAll(async () => {
      await bench.provision();
      redis = await RedisServer.start({ options: ['--requirepass', password] });
    }, 60_000);
    afterEach(async () => {
      const all = started.splice(0);
      for (const { process } of all) process.kill('SIGKILL');
      await Promise.all(all.map(({ ended }) => ended));
    });
    afterAll(async () => {
      await redis?.[Symbol.asyncDispose]();
      bench[Symbol.dispose]();
    });

    function start(argv: readonly string[], more: Record<string, string> = {}): StartedMlab {
      const one = startMlab(argv, { folder: bench.folder, variables: { ...variables, ...more } });
      started.push(one);
      return one;
    }

    async function startWorker(more: Record<string, string> = {}, tasks = fixtureTasks) {
      const amounts = ['--cores', '2', '--memory', '16000', '--stalled-after', '3'];
      const worker = start(['worker', '--redis', redis.url, '--task-dir', tasks, ...amounts], more);
      await until('the worker is there', () => worker.said().includes('Taking jobs from'));
      return worker;
    }

    function run(name: string, rounds: number, seeds: number, more: Record<string, string> = {}) {
      const file = join(bench.folder, `${name}.yaml`);
      const agents = [{ name: agent, options: { rounds, seconds: 0.3 } }];
      writeFileSync(file, JSON.stringify({ name, seeds, tasks: ['sums'], agents, sandbox: 'none' }));
      return start(['run', file, '--on', redis.url, ...places], more);
    }

    const called = (...argv: string[]) => mlab(argv, { folder: bench.folder, variables });
    const count = (text: string, part: RegExp) => text.match(part)?.length ?? 0;

    test('is told once by each command, and once in its log, that Redis does not answer, and that it answers again', async () => {
      const address = redis.url.replace('redis://', '');
      const [workerLog, runLog] = [join(bench.folder, 'worker.log'), join(bench.folder, 'run.log')];
      const worker = await startWorker({ MLAB_LOG: `info:${workerLog}` });
      const submitted = run('outage', 12, 1, { MLAB_LOG: `info:${runLog}` });
      await until('the run is under way', () => submitted.said().includes('started on'));
      await redis.stop('SIGKILL');
      const silent = new RegExp(
        `Redis at ${address} does not answer \\(.*ECONNREFUSED.*\\)\\. Running jobs`,
        'g',
      );
      for (const one of [worker, submitted]) await until('it says so', () => count(one.said(), silent) === 1);
      // Several more attempts.
      await sleep(3_000);
      await redis.resume();
      const end = await submitted.ended;
      expect(end.code, end.err + worker.said()).toBe(0);
      for (const one of [worker, submitted]) {
        expect(count(one.said(), silent), one.said()).toBe(1);
        expect(count(one.said(), new RegExp(`Redis at ${address} answers again`, 'g')), one.said()).toBe(1);
        expect(one.said()).not.toContain('Command aborted');
      }
      for (const log of [workerLog, runLog]) {
        const lines = readFileSync(log, 'utf8').trim().split('\n');
        const events = lines.map((line) => JSON.parse(line));
        expect(events.filter(({ event }) => event === 'service_silent')).toMatchObject([
          { level: 'warn', service: `Redis at ${address}`, message: expect.stringContaining('ECONNREFUSED') },
        ]);
        expect(events.filter(({ event }) => event === 'service_answers')).toHaveLength(1);
        expect(events.filter(({ event }) => event === 'run_ended')).toHaveLength(1);
        expect(events.filter(({ experiment = 'outage' }) => experiment !== 'outage')).toEqual([]);
      }
    });

    test('sees at a terminal which runs are queued and on which worker the others run, below lines that stay', async () => {
      const file = join(bench.folder, 'watched.yaml');
      const agents = [{ name: agent, options: { rounds: 4, seconds: 0.3 } }];
      writeFileSync(file, JSON.stringify({ name: 'watched', tasks: ['sums'], agents, sandbox: 'none' }));
      const terminal = join(import.meta.dirname, 'fixtures/at_terminal.py');
      const argv = [launcher, 'run', file, '--on', redis.url, ...places];
      const child = spawn('python3', [terminal, 'running on', process.execPath, ...argv], {
        cwd: bench.folder,
        env: { PATH: process.env.PATH, HOME: bench.folder, ...variables },
      });
      let printed = '';
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
      });
      let shown = '';
      child.stderr.on('data', (chunk: Buffer) => {
        shown += chunk.toString();
      });
      const ended = new Promise((resolve) => child.once('close', resolve));
      await until('it says that there is no worker', () => shown.includes('No worker takes jobs'));
      const worker = await startWorker();
      await ended;
      const { output, code } = JSON.parse(printed);
      expect(code).toBe(130);
      const name = /as worker (\S+)\./.exec(worker.said())?.[1] ?? '';
      expect(output).toMatch(/· sums-counting-\S+ queued: redis:/);
      expect(output).toMatch(new RegExp(`▸ sums-counting-\\S+ +[\\d.]+ s .*running on \\S+ \\(${name}\\)`));
      // Messages in between are separate lines, which no later frame clears.
      expect(output).toMatch(
        /No worker takes jobs from \S+ now\. Start one with: mlab worker --redis \S+\r\n/,
      );
    });

    test('cancels the jobs of an experiment from another terminal: whoever follows them stops, and the list says so', async () => {
      const worker = await startWorker();
      const following = run('many', 100, 60);
      await until('a run is under way', () => following.said().includes('started on'));
      const { code, out } = await called('runs', 'cancel', 'many', '--json', '--dir', bench.experiments);
      expect(JSON.parse(out), out).toMatchObject({
        experiments: [{ experiment: 'many', on: 'redis', jobs: 60, ending: 0, problem: null }],
      });
      expect(code).toBe(0);
      const end = await following.ended;
      expect(end.code).toBe(1);
      expect(end.out.trim().split('\n')).toEqual([
        'many: The jobs were cancelled by another command.',
        expect.stringMatching(/^0 of 60 runs finished; /),
      ]);
      const listed = await called('runs', 'ls', 'many', '--dir', bench.experiments);
      expect(listed.out).toMatch(/60 runs: 5[0-9] cancelled, [1-9] interrupted/);
      expect(listed.out).toContain('cancelled; the same mlab run submits it again');
      const again = await called('runs', 'cancel', 'many', '--dir', bench.experiments);
      expect(again).toMatchObject({ code: 0, out: 'many: No job was queued or running.\n' });
      // The same command queues them again.
      const resumed = run('many', 100, 60);
      await until('it is queued again', async () => {
        const { out: text } = await called('runs', 'ls', 'many', '--dir', bench.experiments);
        return /queued/.test(text) && !/cancelled/.test(text);
      });
      resumed.process.kill('SIGINT');
      await until('it says how to cancel', () => resumed.said().includes('again within'));
      // Two within 100 ms count as one.
      await sleep(200);
      resumed.process.kill('SIGINT');
      const stopped = await resumed.ended;
      expect(stopped.code).toBe(130);
      expect(stopped.out).toMatch(/^many: 60 jobs were cancelled\..*\n0 of 60 runs finished; .*\n$/);
      expect(worker.said()).not.toContain('grading finished');
    });

    test('cancels some runs of an experiment: whoever follows them goes on with the others', async () => {
      await startWorker();
      const file = join(bench.folder, 'some.yaml');
      const agents = [{ name: agent, options: { rounds: 40, seconds: 8 } }, 'noop'];
      writeFileSync(
        file,
        JSON.stringify({ name: 'some', seeds: 3, tasks: ['sums'], agents, sandbox: 'none' }),
      );
      const following = start(['run', file, '--on', redis.url, ...places]);
      await until('one is under way', () => /-counting-\S+ started on/.test(following.said()));
      const argv = ['runs', 'cancel', 'some/sums-counting-*', '--dir', bench.experiments];
      const { code, out } = await called(...argv);
      expect([code, out]).toEqual([0, expect.stringMatching(/^some: 3 jobs were cancelled\. What/)]);
      const end = await following.ended;
      expect(end.code, end.err).toBe(1);
      const listed = await called('runs', 'ls', 'some', '--dir', bench.experiments);
      expect(listed.out).toMatch(/6 runs: [12] cancelled, 3 finished, [12] interrupted/);
    });

    test('learns from the list, and from the worker, why a worker refused a run', async () => {
      const changed = bench.copyTask('changed', { 'env/train.py': 'print("another starter")\n' });
      const seen = bench.copyTask('seen', {});
      const file = join(bench.folder, 'refused.yaml');
      writeFileSync(
        file,
        JSON.stringify({ name: 'refused', tasks: ['sums'], agents: ['noop'], sandbox: 'none' }),
      );
      const argv = ['run', file, '--on', redis.url, '--task-dir', seen, '--dir', bench.experiments];
      const submitted = start(argv);
      await until('it is queued', () => submitted.said().includes('No worker takes jobs'));
      renameSync(seen, `${seen}-hidden`);
      const worker = await startWorker({}, changed);
      const end = await submitted.ended;
      const name = /as worker (\S+)\./.exec(worker.said())?.[1] ?? '';
      const why = `refused by worker ${name}: The task sums has changed since this experiment was planned. Start a new`;
      expect([end.code, end.out]).toEqual([1, expect.stringContaining(why)]);
      expect(worker.said()).toContain(why);
      const listed = await called('runs', 'ls', 'refused', '--json', '--dir', bench.experiments);
      expect(JSON.parse(listed.out).states).toMatchObject([
        { state: 'failed', where: '', why: expect.stringContaining(why) },
      ]);
    });

    test('is told that a worker is gone, and that its runs are given to another', async () => {
      const worker = await startWorker();
      const submitted = run('gone', 6, 1);
      const list = () => called('runs', 'ls', 'gone', '--dir', bench.experiments);
      await until('the run is under way', async () => / running /.test((await list()).out));
      worker.process.kill('SIGKILL');
      await worker.ended;
      const listed = await list();
      expect(listed.out).toMatch(/its worker on \S+ \(process \d+\) is gone; the job is given to another/);
      await until('it says so', () => submitted.said().includes('is gone; the job is given to another'));
      const idle = await startWorker();
      expect((await submitted.ended).code, submitted.said()).toBe(0);
      const shown = async () => (await called('workers', '--redis', redis.url)).out;
      expect(await shown()).toMatch(/last seen.*runs done/);
      // Workers report every two seconds.
      await until('it reports its run', async () => /idle +\d+ s ago +0 .* 1 *$/m.test(await shown()));
      expect(idle.said()).toMatch(/gone\/sums-\S+: run finished\n.*gone\/sums-\S+: grading finished/s);
    });

    test('can check the server and its workers', async () => {
      const worker = await startWorker();
      const found = await called('doctor', '--on', redis.url);
      expect(found.code, found.out + found.err).toBe(0);
      expect(found.out).toMatch(/Address +answers: \d+\.\d+/);
      expect(found.out).toMatch(/Password +given/);
      expect(found.out).toMatch(/Persistence +appendonly/);
      expect(found.out).toMatch(/Worker +\S+: idle, mlab \S+, 2 cores, 16000 MB/);
      worker.process.kill('SIGTERM');
      const { code, out } = await called('doctor', '--on', 'redis://127.0.0.1:1');
      expect([code, out]).toEqual([1, expect.stringContaining('ECONNREFUSED')]);
    });

    test('can stop a worker while Redis does not answer', async () => {
      const worker = await startWorker();
      await redis.stop('SIGKILL');
      await until('it says so', () => worker.said().includes('does not answer'));
      worker.process.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 0 });
      await redis.resume();
    });

    test('can stop a worker that Redis has not registered yet', async () => {
      const admin = new Redis(redis.url, { password });
      admin.on('error', () => {});
      await admin.client('PAUSE', 60_000, 'WRITE');
      const worker = start(['worker', '--redis', redis.url, '--task-dir', fixtureTasks]);
      await until('it registers', async () => /cmd=subscribe/.test(String(await admin.client('LIST'))));
      await redis.stop('SIGKILL');
      admin.disconnect();
      await until('it says so', () => worker.said().includes('does not answer'));
      expect(worker.said()).not.toContain('Taking jobs');
      worker.process.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 0 });
      await redis.resume();
    });

    test('is told that the password or the user is refused, and where to give it', async () => {
      const refused = async (argv: string[], given: Record<string, string>) =>
        await mlab(argv, { folder: bench.folder, variables: { MLAB_CACHE: bench.cache, ...given } });
      const wrong = await refused(['workers', '--redis', redis.url], {
        MLAB_REDIS_PASSWORD: 'guessed-phrase',
      });
      expect(wrong).toMatchObject({ code: 3 });
      expect(wrong.err).toMatch(/refused the password: WRONGPASS.*\nSet MLAB_REDIS_PASSWORD/);
      expect(wrong.err).not.toContain('guessed-phrase');
      const none = await refused(['workers', '--redis', redis.url], {});
      expect(none).toMatchObject({ code: 3, err: expect.stringMatching(/wants a password: NOAUTH/) });
      const user = redis.url.replace('redis://', 'redis://nobody@');
      const unknown = await refused(['worker', '--redis', user], { MLAB_REDIS_PASSWORD: password });
      expect(unknown).toMatchObject({ code: 3 });
      expect(unknown.err).toContain('refused the password for the user nobody');
      const nowhere = await refused(['workers', '--redis', 'redis://127.0.0.1:1'], {});
      expect(nowhere).toMatchObject({ code: 3, err: expect.stringContaining('ECONNREFUSED') });
    });
  },
);
