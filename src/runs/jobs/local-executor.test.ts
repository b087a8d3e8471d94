import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { type Job, RunId } from '../../schema/index.ts';
import { type Amounts, Capacity } from './capacity.ts';
import type { JobResult } from './job-result.ts';
import { LocalExecutor } from './local-executor.ts';

function jobOf(name: string, kind: Job['kind'], exclusive = false): Job {
  const run = { ...exampleSpec(), id: RunId.parse(name) };
  const common = {
    ...{ v: 1 as const, mlab: '0', experiment: '/none', run, quota: {} },
    task: { id: run.task, version: run.task_version, folder: '/none' },
    provisioning: { allow_unverified: false },
    resources: { cores: 1, threads: 1, memory_mb: 1, gpu: false, exclusive },
  };
  return kind === 'run'
    ? { kind, ...common, archived_attempts: 0 }
    : { kind, ...common, which: 'final' as const };
}

const done: JobResult = { record: null, problem: null };
const follow = (signal = new AbortController().signal) => ({ signal, onProgress: () => {} });

const machine: Amounts = { cores: 4, memory_mb: 1000, gpus: 2, jobs: 3 };
const capacityFor = (jobs: number) => new Capacity({ ...machine, jobs });

test('concurrent jobs never exceed the capacity, an exclusive job runs alone, and every job gets its turn', async () => {
  const kinds = fc.constantFrom('run', 'grade', 'exclusive');
  const needs = fc.record({
    kind: kinds,
    cores: fc.constantFrom(0.1, 1, 1.5, 4),
    memory_mb: fc.constantFrom(1, 400, 1000),
    gpus: fc.constantFrom(0, 0, 1, 2),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(needs, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      async (all, most) => {
        const running = new Set<Job>();
        let executed = 0;
        const sum = (name: 'cores' | 'memory_mb' | 'gpus') =>
          [...running].reduce((total, { resources }) => total + (resources[name] ?? 0), 0);
        const executor = new LocalExecutor(async (job) => {
          running.add(job);
          expect(running.size).toBeLessThanOrEqual(most);
          for (const name of ['cores', 'memory_mb', 'gpus'] as const)
            expect(sum(name)).toBeLessThanOrEqual(machine[name] + 1e-6);
          if ([...running].some(({ resources }) => resources.exclusive)) expect(running.size).toBe(1);
          await sleep(executed++ % 3);
          running.delete(job);
          return done;
        }, capacityFor(most));
        const jobs = all.map(({ kind, ...need }, index) => {
          const job = jobOf(`job-${index}`, kind === 'run' ? 'run' : 'grade', kind === 'exclusive');
          return { ...job, resources: { ...job.resources, ...need, gpu: need.gpus > 0 } };
        });
        const results = await Promise.all(jobs.map((job) => executor.execute(job, follow())));
        expect(results.map(({ problem }) => problem)).toEqual(jobs.map(() => null));
        expect(executed).toBe(jobs.length);
      },
    ),
    { numRuns: 50 },
  );
});

test('a large job is overtaken only by jobs that leave it what it needs', async () => {
  const order: string[] = [];
  const ends = new Map<string, () => void>();
  const executor = new LocalExecutor(async ({ run }) => {
    order.push(run.id);
    await new Promise<void>((end) => ends.set(run.id, end));
    return done;
  }, capacityFor(8));
  const needs = [
    { name: 'first', gpus: 1, cores: 1 },
    { name: 'both-gpus', gpus: 2, cores: 1 },
    { name: 'one-gpu', gpus: 1, cores: 1 },
    { name: 'cores-alone', gpus: 0, cores: 2 },
    { name: 'more-cores', gpus: 0, cores: 1 },
  ];
  const all = needs.map(({ name, gpus, cores }) => {
    const job = jobOf(name, 'run');
    return executor.execute(
      { ...job, resources: { ...job.resources, gpu: gpus > 0, gpus, cores } },
      follow(),
    );
  });
  await expect.poll(() => order).toEqual(['first', 'cores-alone']);
  const end = async (name: string, next: string[]) => {
    ends.get(name)?.();
    await expect.poll(() => order).toEqual(next);
  };
  await end('first', ['first', 'cores-alone', 'both-gpus']);
  await end('both-gpus', ['first', 'cores-alone', 'both-gpus', 'one-gpu', 'more-cores']);
  for (const one of ends.values()) one();
  await Promise.all(all);
});

test('a job that can never fit says what is missing, and blocks nobody', async () => {
  const executor = new LocalExecutor(async () => done, capacityFor(2));
  const big = jobOf('big', 'run');
  const resources = { ...big.resources, gpu: true, gpus: 3, memory_mb: 2000 };
  const { problem } = await executor.execute({ ...big, resources }, follow());
  expect(problem).toBe(
    "can't be executed here: it needs 2000 MB of memory and 3 GPUs; all that is here for jobs: 1000 MB of memory and 2 GPUs",
  );
  expect(await executor.execute(jobOf('small', 'run'), follow())).toEqual(done);
});

test('a grading precedes waiting runs', async () => {
  const order: string[] = [];
  const executor = new LocalExecutor(async ({ run }) => {
    order.push(run.id);
    await sleep(5);
    return done;
  }, capacityFor(1));
  const runs = ['a', 'b', 'c'].map((name) => executor.execute(jobOf(name, 'run'), follow()));
  await Promise.all([...runs, executor.execute(jobOf('grade', 'grade'), follow())]);
  expect(order).toEqual(['a', 'grade', 'b', 'c']);
});

test('a run that has ended is graded before the next one begins', async () => {
  const order: string[] = [];
  const executor = new LocalExecutor(async ({ run, kind }) => {
    order.push(`${kind} ${run.id}`);
    return done;
  }, capacityFor(1));
  const runAndGrade = async (name: string) => {
    await executor.execute(jobOf(name, 'run'), follow());
    return await executor.execute(jobOf(name, 'grade'), follow());
  };
  await Promise.all(['a', 'b', 'c'].map(runAndGrade));
  expect(order).toEqual(['run a', 'grade a', 'run b', 'grade b', 'run c', 'grade c']);
});

test('an error in a job is its result, and no job begins after the signal', async () => {
  const aborting = new AbortController();
  const executor = new LocalExecutor(async ({ run }) => {
    if (run.id === 'a')
      throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    aborting.abort();
    return done;
  }, capacityFor(1));
  const results = await Promise.all(
    ['a', 'b', 'c'].map((name) => executor.execute(jobOf(name, 'run'), follow(aborting.signal))),
  );
  expect(results.map(({ problem }) => problem)).toEqual([
    'The disk is full: ENOSPC: no space left on device, write. Free some space; then run the same command again.',
    null,
    'interrupted',
  ]);
});
