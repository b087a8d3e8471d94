import { expect, test } from 'vitest';
import { JobClass, JobEnd } from './job-queue.ts';
import { told } from './told.ts';
import { WorkerReport } from './workers.ts';

test('what stands in Redis and is nothing that mlab wrote there counts as nothing', () => {
  for (const text of ['', '{', 'null', '[]', '{"problem":1,"worker":"w"}', '['.repeat(100_000)])
    for (const schema of [JobEnd, JobClass, WorkerReport]) expect(told<unknown>(schema, text)).toBeNull();
  expect(told(JobEnd, '{"problem":null,"worker":"w"}')).toEqual({ problem: null, worker: 'w' });
});
