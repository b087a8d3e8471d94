import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { planOf, workThrough } from '../../../test/fixtures/run-place.ts';
import { agentByName } from '../../agents/index.ts';
import { UserError } from '../../lib/errors.ts';
import type { Job } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import type { TaskResources } from '../workspace.ts';
import { executeJob } from './execute-job.ts';
import type { JobHost } from './job-host.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

test('a worker with another version of mlab or the task, or with other data, refuses a job and leaves the store unchanged', async () => {
  const resources = await bench.provision();
  const changed = await bench.provision(bench.copyTask('changed', { 'env/train.py': 'print("other")\n' }));
  const plan = planOf(resources, agentByName('noop'), { seeds: 1, sandbox: 'none' });
  const experiment = createExperiment(join(bench.experiments, 'refusals'), plan);
  const jobs: Job[] = [];
  const execute = async (job: Job) => {
    jobs.push(job);
    return { record: null, problem: null };
  };
  await workThrough(experiment, resources, 'continue', { executor: { execute } });
  const [made] = jobs;
  if (made === undefined) throw new Error('there is no job');
  const work = async (job: Job, here: TaskResources, models: JobHost['models'] = () => undefined) => {
    const host = { helpersFolder, versions: { mlab: '0.2.0' }, models };
    const following = { signal: new AbortController().signal, onProgress: () => {} };
    return await executeJob(
      job,
      { ...host, experiment: () => experiment, resources: async () => here },
      following,
    );
  };
  const { files } = resources.prepared.manifest;
  const others = files.map((file, index) => (index === 0 ? { ...file, sha256: 'f'.repeat(64) } : file));
  const otherData = { ...resources.prepared.manifest, files: others };
  const job = { ...made, mlab: '0.2.0' };
  await expect(work({ ...made, mlab: '0.1.0' }, resources)).rejects.toMatchObject({
    code: 'other_mlab',
    message: expect.stringMatching(/^.+ has mlab 0\.2\.0, but the job was created by mlab 0\.1\.0\.$/),
  });
  await expect(work(job, changed)).rejects.toMatchObject({ code: 'task_changed' });
  await expect(
    work(job, { ...resources, prepared: { ...resources.prepared, manifest: otherData } }),
  ).rejects.toMatchObject({ code: 'data_differs' });
  expect(existsSync(join(experiment.folder, 'runs'))).toBe(false);
  expect((await work(job, resources)).problem).toBeNull();
  // Its grading asks no model, so no key is needed for it.
  const grading: Job = { ...job, kind: 'grade', which: 'final' };
  expect((await work(grading, resources, noKey)).problem).toBeNull();
});

test('files of a task that are edited while its runs are executed stop the next run and the next grading, and are named', async () => {
  const edited = bench.copyTask('edited', {});
  const resources = await bench.provision(edited);
  const plan = planOf(resources, agentByName('noop'), { seeds: 1, sandbox: 'none' });
  const experiment = createExperiment(join(bench.experiments, 'edited'), plan);
  const [script, grader] = ['env/train.py', 'hidden/grade.py'].map((path) => join(edited, 'sums', path));
  const edit = (path = '') => appendFileSync(path, '# edited\n');
  const undo = (path = '') => writeFileSync(path, readFileSync(path, 'utf8').replace('# edited\n', ''));
  edit(script);
  const [refused] = await workThrough(experiment, resources);
  expect(refused?.record).toBeNull();
  expect(refused?.problem).toMatch(
    /^The task sums has changed .* planned: env\/train\.py in \S+edited\/sums\./,
  );
  undo(script);
  const host: JobHost = {
    ...{ helpersFolder, versions: {}, models: () => undefined },
    ...{ experiment: () => experiment, resources: async () => resources },
  };
  const following = { signal: new AbortController().signal, onProgress: () => {} };
  const execute = async (job: Job) => {
    if (job.kind === 'run') return await executeJob(job, host, following);
    edit(grader);
    await expect(executeJob(job, host, following)).rejects.toMatchObject({
      code: 'task_changed',
      message: expect.stringMatching(/: hidden\/grade\.py in /),
    });
    return { record: null, problem: 'refused' };
  };
  const [first] = await workThrough(experiment, resources, 'continue', { executor: { execute } });
  expect(first).toMatchObject({ record: { status: 'finished' }, problem: 'refused' });
  undo(grader);
  expect((await workThrough(experiment, resources)).map(({ problem }) => problem)).toEqual([null]);
});

const noKey = (): never => {
  throw new UserError('key_missing', 'There is no key.', '');
};
