import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { fixtureTasks, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { planOf, workThrough } from '../../../test/fixtures/run-place.ts';
import { agentByName } from '../../agents/index.ts';
import { createExperiment, noteUnqueued, type RunFolder } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsRetry } from './runs-retry.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

function contextHere() {
  const { signal } = new AbortController();
  const folders = { dir: bench.experiments, taskDir: [fixtureTasks] };
  return { ...createContext(folders, { MLAB_CACHE: bench.cache }, '0', signal), log: () => {} };
}

test('a run whose job failed before it began is executed again, and none that still waits', async () => {
  const resources = await bench.provision();
  const changes = { name: 'unbegun', seeds: 2, sandbox: 'none', grade: 'none' };
  const plan = planOf(resources, agentByName('noop'), changes);
  const experiment = createExperiment(join(bench.experiments, 'unbegun'), plan);
  const [failed, waiting] = plan.runs;
  if (failed === undefined || waiting === undefined) throw new Error('two runs were planned');
  await noteUnqueued(experiment.folder, [failed.id], { state: 'failed', why: 'the node went away' });
  const retried = await runsRetry.run(contextHere(), ['unbegun'], { failed: 'infrastructure', trust: true });
  expect(retried).toMatchObject({ exitCode: 0, json: { retried: [`unbegun/${failed.id}`] } });
  expect(experiment.runFolder(failed.id).readRecord()?.status).toBe('finished');
  expect(experiment.runFolder(waiting.id).readRecord()).toBeNull();
});

test('exactly the runs with infrastructure failures are executed again, and their earlier attempts are kept', async () => {
  const resources = await bench.provision();
  const changes = { name: 'night', seeds: 4, sandbox: 'none', grade: 'none' };
  const plan = planOf(resources, agentByName('noop'), changes);
  const experiment = createExperiment(join(bench.experiments, 'night'), plan);
  await workThrough(experiment, resources);
  const folders = experiment.runIds.map((id) => experiment.runFolder(id));
  const [finished, failed, otherwise, interrupted] = folders;
  const fail = (run: RunFolder | undefined, cause: string) => {
    const record = run?.readRecord();
    if (run === undefined || record == null) throw new Error('the run has not begun');
    const end = { reason: 'infrastructure_error' as const, message: 'no room', cause };
    run.writeRecordSync({ ...record, status: 'failed', end });
  };
  fail(failed, 'sandbox');
  fail(otherwise, 'quota_exhausted');
  const record = interrupted?.readRecord();
  if (record != null) interrupted?.writeRecordSync({ ...record, status: 'interrupted', end: null });
  const context = contextHere();
  const untouched = () =>
    [finished, otherwise, interrupted].map((run) => readFileSync(String(run?.recordPath), 'utf8'));
  const before = untouched();
  const retry = async (what: string, more: object = {}) =>
    await runsRetry.run(context, ['night'], { failed: what, trust: true, ...more });

  expect((await retry('sandbox', { dryRun: true })).text).toContain(
    `1 run to rerun:\n  night/${failed?.id}\n`,
  );
  expect(failed?.readRecord()?.status).toBe('failed');
  await expect(retry('sandbox', { trust: undefined })).rejects.toThrow('had no sandbox');
  expect(failed?.readRecord()?.status).toBe('failed');
  expect(await retry('sandbox')).toMatchObject({ exitCode: 0, json: { retried: [`night/${failed?.id}`] } });
  expect(failed?.readRecord()).toMatchObject({ status: 'finished' });
  const archived = join(experiment.folder, 'runs/.discarded', `${failed?.id}.1`, 'run.json');
  expect(JSON.parse(readFileSync(archived, 'utf8'))).toMatchObject({ end: { cause: 'sandbox' } });
  expect(untouched()).toEqual(before);

  expect(await retry('infrastructure')).toMatchObject({ json: { retried: [`night/${otherwise?.id}`] } });
  expect((await retry('infrastructure')).text).toContain('No run failed with this cause (infrastructure).');
});
