import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { RunId } from '../schema/index.ts';
import { UnendedJobs } from './unended-jobs.ts';

test('a note that can not be written, on a full disk say, ends nothing', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'unqueued.json'));
  const jobs = new UnendedJobs(folder);
  jobs.add(RunId.parse('digits-noop-0'), { record: null, problem: 'no space left' });
  await expect(jobs[Symbol.asyncDispose]()).resolves.toBeUndefined();
});
