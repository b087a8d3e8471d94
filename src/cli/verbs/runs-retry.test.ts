import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { mlab } from '../../../test/fixtures/mlab-process.ts';
import { examplePlan, exampleRecord, exampleSpec } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsRetry } from './runs-retry.ts';

/** Runs named after the cause that they failed with. */
function failedIn(folder: string, causes: string[]) {
  const experiment = createExperiment(`${folder}/first`, examplePlan(causes));
  for (const id of causes) {
    const cause = id.replace(/-\d+$/, '').replaceAll('-', '_');
    const end = { reason: 'infrastructure_error' as const, message: '', cause };
    experiment.runFolder(id).writeRecordSync(exampleRecord({ spec: exampleSpec(id), status: 'failed', end }));
  }
  const said: string[] = [];
  const context = createContext({ dir: folder }, {}, '1', new AbortController().signal);
  const retry = async (failed: string) =>
    await runsRetry.run({ ...context, log: (line) => said.push(line) }, ['first'], { failed, dryRun: true });
  return { experiment, retry, said };
}

test('if no run failed with the cause, the existing causes are listed', async () => {
  const { retry } = failedIn(temporaryFolder(), ['sandbox-0', 'sandbox-1', 'quota-exhausted']);
  const { text, json } = await retry('sandbx');
  expect(text).toContain(
    'No run failed with this cause (sandbx). Causes here: sandbox (2), quota_exhausted (1).',
  );
  expect(json).toEqual({ retried: [], runs: [], causes: { sandbox: 2, quota_exhausted: 1 }, unreadable: [] });
});

test('a run whose record cannot be read is reported and left out, and the others are executed again', async () => {
  const { experiment, retry, said } = failedIn(temporaryFolder(), ['sandbox-0', 'sandbox-1']);
  writeFileSync(experiment.runFolder('sandbox-0').recordPath, '{ "v": 1, torn');
  const { text, json } = await retry('infrastructure');
  expect(text).toContain('1 run to rerun:\n  first/sandbox-1\n');
  expect(text).toContain('mlab run instead continues each after its last step');
  expect(json).toMatchObject({ runs: ['first/sandbox-1'], unreadable: ['first/sandbox-0'] });
  expect(said).toEqual([expect.stringContaining('first/sandbox-0 is left out: ')]);
});

test('runs that ended at the limit of their experiment are left to mlab run, which continues them', async () => {
  const { retry } = failedIn(temporaryFolder(), ['sandbox-0', 'experiment-limit-0']);
  expect((await retry('infrastructure')).json).toMatchObject({ runs: ['first/sandbox-0'] });
  await expect(retry('experiment_limit')).rejects.toMatchObject({
    hint: expect.stringContaining('--experiment-money'),
  });
});

test('--failed alone means all infrastructure failures', async () => {
  const folder = temporaryFolder();
  failedIn(folder, ['sandbox-0', 'quota-exhausted']);
  const { code, out } = await mlab(['runs', 'retry', 'first', '--failed', '--dry-run', '--dir', folder], {
    folder,
  });
  expect(out).toContain('2 runs to rerun:\n  first/sandbox-0\n  first/quota-exhausted\n');
  expect(code).toBe(0);
});
