import { expect, test } from 'vitest';
import { exampleSpec } from '../../../../test/fixtures/store/examples.ts';
import type { JobProgress } from '../../jobs/job-result.ts';
import { type FollowedQueuedJob, tellHeld, tellPlaces, unwantedText } from './run-places.ts';
import { WorkerReport } from './workers.ts';

const total = { cores: 2, memory_mb: 4000, gpus: 0, jobs: 2 };
const worker = (id: string, runs: string[] = []) =>
  WorkerReport.parse({
    ...{ id, host: 'node-1', pid: 7, mlab: '1', labels: [], state: 'working', total, free: total, done: 0 },
    jobs: runs.map((run) => ({ kind: 'run', experiment: '/night', run, seconds: 1 })),
  });

function followed(run: string, cores: number, told: JobProgress[] = []): FollowedQueuedJob {
  const resources = { cores, memory_mb: 10, gpu: false, threads: 1, exclusive: false };
  const job = { kind: 'run', run: exampleSpec(run), resources } as FollowedQueuedJob['queued']['job'];
  const following = {
    signal: AbortSignal.any([]),
    onProgress: (progress: JobProgress) => void told.push(progress),
  };
  return { queued: { job, labels: [] }, following, place: '', held: '', unreported: 0 };
}

test('a run whose worker is gone is told once, and is queued again', () => {
  const told: JobProgress[] = [];
  const lines: string[] = [];
  const jobs = [followed('first', 1, told)];
  const look = (workers: WorkerReport[]) =>
    tellPlaces(jobs, workers, '/night', 'redis://queue', (line) => lines.push(line));
  look([worker('w1', ['first'])]);
  for (let times = 0; times < 4; times += 1) look([worker('w2')]);
  expect(lines).toEqual(['first: its worker node-1 (w1) is gone; the job is given to another.']);
  expect(told.map(({ kind }) => kind)).toEqual(['run_started', 'run_queued']);
});

test('a run that its worker put back is queued again, and its worker is not said to be gone', () => {
  const lines: string[] = [];
  const jobs = [followed('first', 1)];
  for (const runs of [['first'], [], [], []])
    tellPlaces(jobs, [worker('w1', runs)], '/night', 'redis://queue', (line) => lines.push(line));
  expect(lines).toEqual([]);
});

test('a run that another process still has is told once for each such process', () => {
  const lines: string[] = [];
  const job = followed('first', 1);
  for (const pid of [7, 7, 8])
    tellHeld(job, `process ${pid} on vm is working on it.`, (line) => lines.push(line));
  expect(lines).toEqual([
    'first is put back: process 7 on vm is working on it. End that process if it hangs.',
    'first is put back: process 8 on vm is working on it. End that process if it hangs.',
  ]);
});

test('jobs that fit no worker are told with what they need, and what to do', () => {
  const text = (...cores: number[]) =>
    unwantedText(
      cores.map((count) => followed('first', count)),
      [worker('w1')],
      'redis://queue',
    );
  expect(text(1)).toBe('');
  expect(text(4)).toMatch(/^1 job fits no worker that is there: it needs 4 cores; .* 2 cores\./);
  expect(text(4)).toContain(
    'Start a worker with more (mlab worker --redis redis://queue --cores 4), or ask for less in the experiment file (resources: { cores: 2 }) and give the same command again.',
  );
  expect(text(4, 4)).toMatch(/^2 jobs fit no worker that is there: they need 4 cores;/);
  expect(text(4, 8)).toMatch(/^2 jobs fit no worker that is there: the first of them needs 4 cores;/);
});
