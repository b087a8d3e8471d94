import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { checkRun, openExperiment, readTraceSync } from '../src/store/index.ts';
import { s3Variables } from './fakes/s3.ts';
import { fixtureTasks, TaskBench } from './fixtures/fixture-task.ts';
import { mlab, type StartedMlab, startMlab } from './fixtures/mlab-process.ts';
import { RedisServer, whyNoRedis } from './fixtures/redis/server.ts';
import { findMoto, MotoServer } from './fixtures/s3/moto-server.ts';
import { until } from './fixtures/until.ts';

const moto = await findMoto();
const missing = whyNoRedis() ?? ('missing' in moto ? moto.missing : null);
const agent = join(import.meta.dirname, 'fixtures/slurm/counting-agent.ts');

describe.skipIf(missing !== null)(
  `workers without a shared folder${missing === null ? '' : ` (skipped: ${missing})`}`,
  () => {
    const bench = new TaskBench();
    const temporary = join(bench.folder, 'workers');
    let redis: RedisServer;
    let s3: MotoServer;
    let variables: Record<string, string>;
    const started: StartedMlab[] = [];
    const places = ['--task-dir', fixtureTasks, '--dir', bench.experiments];

    beforeAll(async () => {
      mkdirSync(temporary);
      await bench.provision();
      redis = await RedisServer.start();
      s3 = await MotoServer.start('python' in moto ? moto.python : '');
      variables = { MLAB_CACHE: bench.cache, ...s3Variables(s3.url) };
    });
    afterEach(async () => {
      for (const { process } of started) process.kill('SIGKILL');
      await Promise.all(started.map(({ ended }) => ended));
    });
    afterAll(async () => {
      await redis?.[Symbol.asyncDispose]();
      await s3?.[Symbol.asyncDispose]();
      bench[Symbol.dispose]();
    });

    function start(argv: readonly string[], more: Record<string, string> = {}): StartedMlab {
      const one = startMlab(argv, { folder: bench.folder, variables: { ...variables, ...more } });
      started.push(one);
      return one;
    }

    async function startWorker(more: Record<string, string> = {}): Promise<StartedMlab> {
      const amounts = ['--cores', '2', '--memory', '16000', '--stalled-after', '3'];
      const worker = start(['worker', '--redis', redis.url, '--task-dir', fixtureTasks, ...amounts], {
        TMPDIR: temporary,
        ...more,
      });
      await until('the worker is there', () => worker.said().includes('Taking jobs from'));
      return worker;
    }

    function run(name: string, rounds: number, seeds: number): StartedMlab {
      const file = join(bench.folder, `${name}.yaml`);
      const agents = [{ name: agent, options: { rounds, seconds: 0.3 } }];
      writeFileSync(file, JSON.stringify({ name, seeds, tasks: ['sums'], agents, sandbox: 'none' }));
      return start(['run', file, '--on', redis.url, '--artifacts', 's3://bucket/lab', ...places]);
    }

    /** Each ended once, with each step once, and was graded once; the epochs of its sessions increase. */
    async function expectWhole(name: string, rounds: number): Promise<number[][]> {
      const experiment = openExperiment(join(bench.experiments, name));
      const epochs: number[][] = [];
      for (const id of experiment.runIds) {
        const folder = experiment.runFolder(id);
        expect(await checkRun(folder)).toEqual([]);
        const { events } = readTraceSync(folder.tracePath);
        expect(events.filter(({ kind }) => kind === 'run_ended')).toHaveLength(1);
        const steps = events.flatMap((event) => (event.kind === 'step_finished' ? [event.step] : []));
        expect(steps).toEqual(Array.from({ length: rounds + 3 }, (_, index) => index + 1));
        expect(folder.readGrades().grades.map(({ score }) => score)).toEqual([4.5]);
        const own = events.flatMap((event) => (event.kind === 'session_started' ? [event.epoch ?? 0] : []));
        expect(own).toEqual([...new Set(own)].sort((one, other) => one - other));
        epochs.push(own);
      }
      return epochs;
    }

    /** The content of the store, by key. */
    async function stored(prefix: string): Promise<Map<string, string>> {
      const credentials = { accessKeyId: 'x', secretAccessKey: 'x' };
      const client = new S3Client({
        endpoint: s3.url,
        region: 'us-east-1',
        forcePathStyle: true,
        credentials,
      });
      const asked = { Bucket: 'bucket', Prefix: prefix };
      const { Contents = [] } = await client.send(new ListObjectsV2Command(asked));
      const found = new Map<string, string>();
      for (const { Key = '' } of Contents) {
        const { Body } = await client.send(new GetObjectCommand({ Bucket: 'bucket', Key }));
        found.set(Key, (await Body?.transformToString('latin1')) ?? '');
      }
      client.destroy();
      return found;
    }

    const heads = async (name: string) =>
      [...(await stored(`lab/${name}-`))].filter(([key]) => key.includes('/runs/'));

    /** Waits until the store has the trace of a run with more than its first steps. */
    async function untilUploaded(name: string): Promise<void> {
      await until('steps are in the store', async () => {
        const bytes = (await heads(name)).map(([, text]) =>
          (JSON.parse(text).files['trace.jsonl'] ?? []).reduce(
            (sum: number, part: { bytes: number }) => sum + part.bytes,
            0,
          ),
        );
        return bytes.some((each) => each > 4000);
      });
    }

    test('execute and grade the runs of an experiment, which are then where it was planned; the run of a killed worker resumes from its uploads', async () => {
      const first = await startWorker();
      const submitted = run('moved', 6, 2);
      await untilUploaded('moved');
      // Nothing is here while the runs are elsewhere.
      expect(existsSync(join(bench.experiments, 'moved', 'runs'))).toBe(false);
      first.process.kill('SIGKILL');
      const second = await startWorker();
      const end = await submitted.ended;
      expect(end.code, end.err + second.said()).toBe(0);
      const epochs = await expectWhole('moved', 6);
      expect(epochs.flat().length).toBeGreaterThan(2);
      for (const argv of [
        ['runs', 'check', 'moved'],
        ['grade', 'moved', '--steps', 'all', '--trust'],
        ['report', 'moved'],
      ]) {
        const done = await mlab([...argv, ...places.slice(argv[0] === 'grade' ? 0 : 2)], {
          folder: bench.folder,
          variables: { MLAB_CACHE: bench.cache },
        });
        expect(done.code, done.err + done.out).toBe(0);
      }
      second.process.kill('SIGTERM');
      expect(await second.ended).toMatchObject({ code: 0 });
    });

    test('resume forks and branches of runs that are not in the store', async () => {
      const flags = ['--agent', agent, '--agent-option', 'rounds=3', '--agent-option', 'seconds=0.1'];
      const here = ['--sandbox', 'none', '--name', 'parent', ...places];
      const parent = await start(['run', '--task', 'sums', ...flags, ...here]).ended;
      expect(parent.code, parent.err).toBe(0);
      const [id = ''] = openExperiment(join(bench.experiments, 'parent')).runIds;
      const worker = await startWorker();
      const elsewhere = ['--on', redis.url, '--artifacts', 's3://bucket/lab', '--trust', ...places];
      const forked = ['run', '--from', `parent/${id}@2`, '--steps', '30', '--name', 'forked', ...elsewhere];
      const branched = ['run', '--from', `parent/${id}@2`, '--branch', 'again', ...elsewhere];
      for (const argv of [forked, branched]) {
        const end = await start(argv).ended;
        expect(end.code, end.err + end.out + worker.said()).toBe(0);
      }
      for (const name of ['forked', 'parent']) {
        const experiment = openExperiment(join(bench.experiments, name));
        const ids = [...experiment.runIds, ...experiment.branches.map(({ run }) => run.id)];
        for (const folder of ids.map((each) => experiment.runFolder(each))) {
          expect(await checkRun(folder)).toEqual([]);
          const { events } = readTraceSync(folder.tracePath);
          const steps = events.flatMap((event) => (event.kind === 'step_finished' ? [event.step] : []));
          expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
          expect(folder.readGrades().grades.map(({ score }) => score)).toEqual([4.5]);
        }
        expect(ids).toHaveLength(name === 'parent' ? 2 : 1);
      }
    });

    test('a worker that was suspended and replaced overwrites nothing when it continues', async () => {
      const first = await startWorker();
      const submitted = run('frozen', 6, 1);
      await untilUploaded('frozen');
      first.process.kill('SIGSTOP');
      const second = await startWorker();
      const end = await submitted.ended;
      expect(end.code, end.err + second.said()).toBe(0);
      const before = await stored('lab/frozen-');
      first.process.kill('SIGCONT');
      await until('it notices', () => /Another machine has taken over|Missing lock/.test(first.said()));
      first.process.kill('SIGTERM');
      expect(await first.ended).toMatchObject({ code: 0 });
      const heads = (all: Map<string, string>) => [...all].filter(([key]) => key.includes('/runs/'));
      expect(heads(await stored('lab/frozen-'))).toEqual(heads(before));
      await expectWhole('frozen', 6);
    });

    test('a stopped worker uploads what it has; the same command later fetches what was done meanwhile', async () => {
      const own = join(temporary, 'left');
      mkdirSync(own);
      const first = await startWorker({ TMPDIR: own });
      const submitted = run('left', 8, 1);
      await untilUploaded('left');
      first.process.kill('SIGTERM');
      expect(await first.ended).toMatchObject({ code: 0 });
      submitted.process.kill('SIGINT');
      expect(await submitted.ended).toMatchObject({ code: 130 });
      expect(readdirSync(own).filter((name) => name.startsWith('mlab-run-'))).toEqual([]);
      const second = await startWorker();
      await until('it is graded', () => second.said().includes(': grading finished'));
      const again = await run('left', 8, 1).ended;
      expect(again.code, again.err).toBe(0);
      expect((await expectWhole('left', 8)).flat()).toHaveLength(2);
      const forgotten = await start(['run', join(bench.folder, 'left.yaml'), '--on', redis.url, ...places])
        .ended;
      expect(forgotten).toMatchObject({ code: 2 });
      expect(forgotten.err).toContain('--artifacts s3://BUCKET/FOLDER');
    });

    test('a store that a worker cannot use is reported by mlab run, and no credential is in jobs, in the store or in messages', async () => {
      const submitted = run('unusable', 1, 1);
      const jobs: string[] = [];
      const client = new Redis(redis.url);
      await until('the job is queued', async () => {
        for (const key of await client.keys('mlab:jobs-*:*.run-0'))
          jobs.push(JSON.stringify(await client.hgetall(key)));
        return jobs.some((text) => text.includes('s3://bucket/lab/unusable-'));
      });
      client.disconnect();
      const wrong = await startWorker({ AWS_ENDPOINT_URL_S3: 'http://127.0.0.1:9' });
      const end = await submitted.ended;
      expect(end.code).toBe(1);
      expect(end.out).toMatch(/s3:\/\/bucket\/lab\/unusable-[0-9a-f]+ can't be used from .*ECONNREFUSED/);
      wrong.process.kill('SIGTERM');
      await wrong.ended;
      await startWorker();
      const again = await run('unusable', 1, 1).ended;
      expect(again.code, again.err).toBe(0);
      await expectWhole('unusable', 1);
      const kept = [...(await stored('lab/unusable-')).values()];
      expect(kept.length).toBeGreaterThan(10);
      const folder = join(bench.experiments, 'unusable');
      const files = readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'));
      const said = started.map((one) => one.said());
      for (const text of [...jobs, ...kept, ...files, ...said, end.out])
        expect(text).not.toMatch(/the-secret-of-the-store|an-access-key/);
    });
  },
);
