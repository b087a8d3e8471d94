import { rmSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeExampleRun } from '../../../test/fixtures/store/example-run.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createContext } from '../context.ts';
import { runsCheck } from './runs-check.ts';

test('a damaged record is a problem of its run, and the others are checked all the same', async () => {
  const folder = temporaryFolder();
  const { run } = await makeExampleRun(folder);
  const check = async () =>
    await runsCheck.run(createContext({ dir: folder }, {}, '1', new AbortController().signal), ['first'], {});
  expect(await check()).toMatchObject({ exitCode: 0, text: expect.stringContaining('1 run checked') });
  truncateSync(run.recordPath, 100);
  const { exitCode, text } = await check();
  expect(exitCode).toBe(1);
  expect(text).toMatch(/✗ first\/digits-baseline-0\n.*run\.json/);
  expect(text).toContain('1 run checked, 1 with problems. 1 run not begun.');
  rmSync(run.recordPath);
  expect(await check()).toMatchObject({ exitCode: 1, text: expect.stringMatching(/run\.json is missing/) });
  rmSync(run.folder, { recursive: true });
  writeFileSync(run.folder, '');
  expect(await check()).toMatchObject({ exitCode: 1, text: expect.stringMatching(/run\.json is missing/) });
});
