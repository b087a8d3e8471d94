import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../../../store/index.ts';
import type { JobResult } from '../../jobs/job-result.ts';
import { makeRunJob } from '../../jobs/make-jobs.ts';
import { FollowedJob } from './followed-job.ts';
import type { JobState } from './job-state.ts';
import { WaveFolder } from './wave.ts';

const waiting: JobState = { state: 'PENDING', reason: 'Resources', nodes: '', restarts: 0, name: 'mlab-1' };
const running: JobState = { ...waiting, state: 'RUNNING', nodes: 'n1' };

/** A submitted job that leaves nothing behind, and how it ended. */
function makeFollowed() {
  const plan = examplePlan(['one']);
  const experiment = createExperiment(join(temporaryFolder(), plan.name), plan);
  const [run] = plan.runs;
  if (run === undefined) throw new Error('the plan is empty');
  const provisioning = { allow_unverified: false };
  const settings = { plan, experiment, provisioning, modelsFolder: '/', mlab: '1', threads: 1 };
  const job = makeRunJob(run, { ...settings, tasks: new Map() }, false);
  const waves = new WaveFolder(experiment.folder, 'slurm');
  const wave = { ...waves.create([job]), id: '7' };
  const following = { signal: new AbortController().signal, onProgress: () => {} };
  const given = { job, next: undefined, following, hadBegun: false, attempts: 0 };
  const results: JobResult[] = [];
  const followed = new FollowedJob(
    { ...given, resolve: (result) => results.push(result), reject: () => {} },
    { wave, index: 0, key: '7_0', kind: 'run', run: run.id },
    experiment.runFolder(run.id),
    waves,
    'Slurm',
  );
  const vanish = (isArrayThere: boolean) =>
    [1, 2, 3].map(() => followed.look(undefined, isArrayThere)).at(-1);
  return { followed, vanish };
}

test('a waiting job that vanishes from an array that is still there was cancelled by somebody', () => {
  const { followed, vanish } = makeFollowed();
  followed.look(waiting, true);
  expect(vanish(true)).toEqual({
    kind: 'ended',
    result: { record: null, problem: 'cancelled in Slurm (7_0)', isCancelled: true },
  });
});

test.each([
  ['waits, and vanishes with its whole array', waiting, false],
  ['runs, and vanishes from an array that is still there', running, true],
])('a job that %s is submitted again: the controller forgot it', (_, state, isArrayThere) => {
  const { followed, vanish } = makeFollowed();
  followed.look(state, true);
  expect(vanish(isArrayThere)).toEqual({ kind: 'again', why: 'Slurm knows nothing of it any more' });
});
