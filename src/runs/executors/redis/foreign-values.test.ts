import { expect, test } from 'vitest';
import { parsedAs } from '../../../lib/json-values.ts';
import { JobEnd } from './job-ends.ts';
import { JobClass } from './job-queue.ts';
import { WorkerReport } from './workers.ts';

test('what stands in Redis and is nothing that mlab wrote there counts as nothing', () => {
  for (const text of ['', '{', 'null', '[]', '{"problem":1,"worker":"w"}', '['.repeat(100_000)])
    for (const schema of [JobEnd, JobClass, WorkerReport]) expect(parsedAs<unknown>(schema, text)).toBeNull();
  expect(parsedAs(JobEnd, '{"problem":null,"worker":"w"}')).toEqual({ problem: null, worker: 'w' });
});
