import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkRun, openExperiment, readTraceSync } from '../src/store/index.ts';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { mlab, type StartedMlab, startMlab } from './fixtures/mlab-process.ts';
import { CuttingProxy } from './fixtures/redis/cutting-proxy.ts';
import { RedisServer, whyNoRedis } from './fixtures/redis/server.ts';
import { until } from './fixtures/until.ts';

const missing = whyNoRedis();
const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');
const password = 'pass-phrase-of-redis';

describe.skipIf(missing !== null)(
  `workers of a Redis${missing === null ? '' : ` (skipped: ${missing})`}`,
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
    afterAll(async () => {
      for (const { process } of started) process.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
      await redis?.[Symbol.asyncDispose]();
      bench[Symbol.dispose]();
    });

    function start(argv: readonly string[], given: Record<string, string> = variables): StartedMlab {
      const one = startMlab(argv, { folder: bench.folder, variables: given });
      started.push(one);
      return one;
    }

    async function startWorker(...flags: string[]): Promise<StartedMlab> {
      const amounts = ['--cores', '2', '--memory', '16000', '--stalled-after', '3'];
      const tasks = flags.includes('--task-dir') ? [] : ['--task-dir', fixtureTasks];
      const worker = start(['worker', '--redis', redis.url, ...tasks, ...amounts, ...flags]);
      await until('the worker is there', () => worker.said().includes('Taking jobs from'));
      return worker;
    }

    function run(
      name: string,
      rounds: number,
      seeds: number,
      changes: Record<string, unknown> = {},
      given = places,
    ) {
      const file = join(bench.folder, `${name}.yaml`);
      const agents = [{ name: agent, options: { rounds, seconds: 0.3 } }];
      const plan = { name, seeds, tasks: ['sums'], agents, sandbox: 'none', ...changes };
      writeFileSync(file, JSON.stringify(plan));
      return start(['run', file, '--on', redis.url, ...given]);
    }

    /** Each ended once, with all its steps, and was graded once. */
    async function expectWhole(name: string, rounds: number): Promise<void> {
      const experiment = openExperiment(join(bench.experiments, name));
      for (const id of experiment.runIds) {
        const folder = experiment.runFolder(id);
        expect(await checkRun(folder)).toEqual([]);
        const { events } = readTraceSync(folder.tracePath);
        expect(events.filter(({ kind }) => kind === 'run_ended')).toHaveLength(1);
        expect(events.filter(({ kind }) => kind === 'step_finished')).toHaveLength(rounds + 3);
        expect(folder.readGrades().grades.map(({ score }) => score)).toEqual([4.5]);
      }
    }

    async function stop(worker: StartedMlab): Promise<void> {
      worker.process.kill('SIGTERM');
      const { code, err } = await worker.ended;
      expect(code, err).toBe(0);
    }

    test('are reported as missing by mlab run, or as unable to take a job', async () => {
      const submitted = run('unwanted', 1, 1, { resources: { cores: 3 } });
      await until('it says so', () => submitted.said().includes('No worker takes jobs from'));
      const worker = await startWorker();
      await until('it says why', () =>
        /1 job fits no worker that is there: it needs 3 cores; .* 2 cores/.test(submitted.said()),
      );
      // Leaves nothing for the workers of other tests.
      submitted.process.kill('SIGINT');
      await until('it says how to cancel', () => submitted.said().includes('again within'));
      // Two within 100 ms count as one.
      await sleep(200);
      submitted.process.kill('SIGINT');
      expect((await submitted.ended).out).toContain('1 job was cancelled');
      await stop(worker);
    });

    test('execute the runs of an experiment and grade them; a killed one loses nothing, and a stopped one returns its jobs', async () => {
      const first = await startWorker();
      const submitted = run('moved', 6, 3);
      await until('a run is under way', () => submitted.said().includes('started on'));
      const listed = await mlab(['workers', '--redis', redis.url, '--json'], {
        folder: bench.folder,
        variables,
      });
      // Its state is that of its last report, from before or after it began.
      const state = expect.stringMatching(/^(idle|working)$/);
      expect(JSON.parse(listed.out).workers).toMatchObject([{ state, total: { cores: 2 } }]);
      await sleep(800);
      first.process.kill('SIGKILL');
      const second = await startWorker();
      await until('it goes on', () => submitted.said().split('started on').length > 3);
      await sleep(800);
      await stop(second);
      const third = await startWorker();
      const end = await submitted.ended;
      expect(end.code, end.err + third.said()).toBe(0);
      await expectWhole('moved', 6);
      await stop(third);
    });

    test('continue when the submitting command is stopped; the same command follows the jobs again, and Ctrl-C twice cancels them', async () => {
      const worker = await startWorker();
      const first = run('left', 8, 2);
      await until('a run is under way', () => first.said().includes('started on'));
      first.process.kill('SIGINT');
      const detached = await first.ended;
      expect(detached.code).toBe(130);
      expect(detached.out).toMatch(/^ {2}sums-counting-\S+: running$/m);
      expect(detached.out).not.toContain(': interrupted');
      expect(detached.out).toContain('Run the same command again to follow them.');
      const again = run('left', 8, 2);
      const end = await again.ended;
      expect(end.code, end.err).toBe(0);
      await expectWhole('left', 8);
      const third = run('ended', 100, 2);
      await until('a run is under way', () => third.said().includes('started on'));
      third.process.kill('SIGINT');
      await until('it says so', () => third.said().includes('again within'));
      // Two within 100 ms count as one.
      await sleep(200);
      third.process.kill('SIGINT');
      const cancelled = await third.ended;
      expect(cancelled.out).toMatch(/2 jobs were cancelled\. What is finished/);
      expect(cancelled.code).toBe(130);
      await stop(worker);
    });

    test('with another version of a task leave its runs to others, and refuse them only if all do', async () => {
      const changed = bench.copyTask('changed', { 'env/train.py': 'print("another starter")\n' });
      // Workers use their own tasks where they don't see those of the submitter.
      const seen = bench.copyTask('seen', {});
      const submit = async (name: string, seeds: number) => {
        const submitted = run(name, 4, seeds, {}, ['--task-dir', seen, '--dir', bench.experiments]);
        await until('it is queued', () => submitted.said().includes('No worker takes jobs'));
        renameSync(seen, `${seen}-hidden`);
        return submitted;
      };
      const refused = await submit('refused', 1);
      const alone = await startWorker('--task-dir', changed);
      const end = await refused.ended;
      expect([end.code, end.out]).toEqual([1, expect.stringContaining('has changed since')]);
      await stop(alone);
      renameSync(`${seen}-hidden`, seen);
      const submitted = await submit('left-to-others', 8);
      const right = await startWorker();
      const wrong = await startWorker('--task-dir', changed);
      const done = await submitted.ended;
      expect(done.code, done.out + wrong.said()).toBe(0);
      expect(wrong.said()).toContain('left to other workers');
      await expectWhole('left-to-others', 4);
      await stop(wrong);
      await stop(right);
    }, 120_000);

    test('take only jobs for which they have the resources and the labels', async () => {
      const small = await startWorker('--cores', '1');
      const large = await startWorker('--cores', '4', '--label', 'large');
      const both = [
        run('labelled', 1, 2, { executor: { redis: { labels: ['large'] } } }),
        run('wide', 1, 2, { resources: { cores: 3 } }),
      ];
      for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
      expect(small.said()).not.toContain('finished');
      expect(large.said().match(/grading finished/g)).toHaveLength(4);
      await Promise.all([stop(small), stop(large)]);
    });

    test('finish a job even if a connection breaks when they first find one', async () => {
      // The first two are the worker's own; the third is for its queue.
      await using proxy = await CuttingProxy.start(redis.url, [3]);
      const worker = await startWorker('--redis', proxy.url);
      const submitted = run('cut-off', 1, 1);
      const end = await submitted.ended;
      expect(end.code, end.err + worker.said()).toBe(0);
      const client = new Redis(redis.url, { password });
      await until('no job is left', async () => (await client.keys('mlab:jobs-*:*.*')).length === 0);
      client.disconnect();
      expect(worker.said().match(/: (run|grading) finished$/gm)).toHaveLength(2);
      await stop(worker);
    });

    test('give up a run that kills its workers; mlab runs retry executes it again', async () => {
      const submitted = run('poison', 1, 1, {
        agents: [join(import.meta.dirname, 'fixtures/deadly-agent.ts')],
      });
      const client = new Redis(redis.url, { password });
      const queued = async () => (await client.keys('mlab:jobs-*:*.run-0'))[0];
      await until('it is queued', async () => (await queued()) !== undefined);
      await client.hset((await queued()) ?? '', 'stc', 7);
      client.disconnect();
      const [first, second] = [await startWorker(), await startWorker()];
      const end = await submitted.ended;
      expect([first, second].map(({ process: { signalCode } }) => signalCode).sort()).toEqual([
        'SIGKILL',
        null,
      ]);
      expect(end.code).toBe(1);
      expect(end.out).toContain('was lost 8 times');
      const listed = await mlab(['runs', 'retry', 'poison', '--dry-run', ...places], {
        folder: bench.folder,
        variables,
      });
      expect(listed.out).toContain('1 run to rerun');
      for (const worker of [first, second]) worker.process.kill('SIGKILL');
    });

    test('work over TLS, with a user and its password, if they trust the certificate', async () => {
      const [certificate, key] = [join(bench.folder, 'redis.pem'), join(bench.folder, 'redis.key')];
      const subject = ['-subj', '/CN=redis', '-addext', 'subjectAltName=IP:127.0.0.1'];
      const made = [
        'req',
        '-x509',
        '-newkey',
        'rsa:2048',
        '-days',
        '2',
        '-nodes',
        '-keyout',
        key,
        '-out',
        certificate,
      ];
      execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' });
      const rules = [
        '--user',
        'mlab',
        'on',
        `>${password}`,
        '~mlab:*',
        '&mlab:*',
        '+@all',
        '--user',
        'default',
        'off',
      ];
      await using encrypted = await RedisServer.start({ tls: { certificate, key }, options: rules });
      const url = encrypted.url.replace('rediss://', 'rediss://mlab@');
      const distrusting = await mlab(['workers', '--redis', url], { folder: bench.folder, variables });
      expect(distrusting).toMatchObject({ code: 3 });
      expect(distrusting.err).toContain('NODE_EXTRA_CA_CERTS');
      const trusting = { ...variables, NODE_EXTRA_CA_CERTS: certificate };
      const worker = start(['worker', '--redis', url, '--task-dir', fixtureTasks, '--cores', '2'], trusting);
      const argv = ['run', '--task', 'sums', '--agent', 'noop', '--sandbox', 'none', '--name', 'encrypted'];
      const end = await start([...argv, '--on', url, ...places], trusting).ended;
      expect(end.code, end.err + worker.said()).toBe(0);
      expect(readFileSync(join(bench.experiments, 'encrypted', 'executor.json'), 'utf8')).toContain(url);
      await stop(worker);
    });

    test('get their password only from the environment, and never reveal it', async () => {
      const shown = redis.url.replace('redis://', `redis://:${password}@`);
      const refused = await mlab(['worker', '--redis', shown], { folder: bench.folder, variables });
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.err).toContain('MLAB_REDIS_PASSWORD');
      const wrong = { MLAB_REDIS_URL: redis.url.replace('redis://', 'redis://:guessed-phrase@') };
      const denied = await mlab(['workers'], { folder: bench.folder, variables: wrong });
      expect(denied.err).toContain('refused the password');
      const inside = await mlab(['workers'], { folder: bench.folder, variables: { MLAB_REDIS_URL: shown } });
      expect(inside).toMatchObject({ code: 0 });
      const said = [...started.map((one) => one.said()), refused.err, denied.err, inside.err, inside.out];
      const kept = readFileSync(join(bench.experiments, 'moved', 'executor.json'), 'utf8');
      for (const text of [...said, kept]) expect(text).not.toMatch(/pass-phrase|guessed-phrase/);
    });
  },
);
