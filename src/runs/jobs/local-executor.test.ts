import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { type Job, RunId } from '../../schema/index.ts';
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

test('at no time are there more jobs under way than allowed, nor any beside an exclusive one', async () => {
  const kinds = fc.constantFrom('run', 'grade', 'exclusive');
  await fc.assert(
    fc.asyncProperty(
      fc.array(kinds, { maxLength: 12 }),
      fc.integer({ min: 1, max: 4 }),
      async (all, parallel) => {
        const running = new Set<Job>();
        let executed = 0;
        const executor = new LocalExecutor(async (job) => {
          running.add(job);
          expect(running.size).toBeLessThanOrEqual(parallel);
          if ([...running].some(({ resources }) => resources.exclusive)) expect(running.size).toBe(1);
          await sleep(executed++ % 3);
          running.delete(job);
          return done;
        }, parallel);
        const jobs = all.map((kind, index) =>
          jobOf(`job-${index}`, kind === 'run' ? 'run' : 'grade', kind === 'exclusive'),
        );
        const results = await Promise.all(jobs.map((job) => executor.execute(job, follow())));
        expect(results.map(({ problem }) => problem)).toEqual(jobs.map(() => null));
        expect(executed).toBe(jobs.length);
      },
    ),
    { numRuns: 50 },
  );
});

test('a grading goes before the runs that wait for room', async () => {
  const order: string[] = [];
  const executor = new LocalExecutor(async ({ run }) => {
    order.push(run.id);
    await sleep(5);
    return done;
  }, 1);
  const runs = ['a', 'b', 'c'].map((name) => executor.execute(jobOf(name, 'run'), follow()));
  await Promise.all([...runs, executor.execute(jobOf('grade', 'grade'), follow())]);
  expect(order).toEqual(['a', 'grade', 'b', 'c']);
});

test('a run that has ended is graded before the next one begins', async () => {
  const order: string[] = [];
  const executor = new LocalExecutor(async ({ run, kind }) => {
    order.push(`${kind} ${run.id}`);
    return done;
  }, 1);
  const runAndGrade = async (name: string) => {
    await executor.execute(jobOf(name, 'run'), follow());
    return await executor.execute(jobOf(name, 'grade'), follow());
  };
  await Promise.all(['a', 'b', 'c'].map(runAndGrade));
  expect(order).toEqual(['run a', 'grade a', 'run b', 'grade b', 'run c', 'grade c']);
});

test('what a job meets is its result, and after the signal none begins', async () => {
  const aborting = new AbortController();
  const executor = new LocalExecutor(async ({ run }) => {
    if (run.id === 'a') throw new Error('there is no room on the disk');
    aborting.abort();
    return done;
  }, 1);
  const results = await Promise.all(
    ['a', 'b', 'c'].map((name) => executor.execute(jobOf(name, 'run'), follow(aborting.signal))),
  );
  expect(results.map(({ problem }) => problem)).toEqual([
    'there is no room on the disk',
    null,
    'interrupted',
  ]);
});
