import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  examplePlan,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { createExperiment } from './experiment.ts';
import { forkRun } from './fork.ts';
import { outputFile, type RunFolder } from './run-folder.ts';
import { Snapshotter } from './snapshotter.ts';

/** A finished run of three steps, each with an output that was too long for its observation. */
async function finishedRun(folder: string): Promise<RunFolder> {
  const run = createExperiment(folder, examplePlan()).runFolder('digits-baseline-0');
  using _lock = run.lock();
  await using trace = run.openTrace();
  const workspace = join(folder, 'workspace');
  for (const name of [workspace, run.outputsFolder]) mkdirSync(name, { recursive: true });
  const { id } = await new Snapshotter(run.objects, workspace).take();
  trace.append(sessionStarted(id));
  for (const step of [1, 2, 3]) {
    trace.append(stepStarted(step));
    writeFileSync(join(run.outputsFolder, outputFile(step)), `output ${step}\n`);
    trace.append(stepFinished(step, id));
  }
  trace.append(runEnded());
  return run;
}

test('a fork has the long outputs of the steps that it shares with its parent, and no later ones', async () => {
  using folder = temporaryFolder();
  const parent = await finishedRun(join(folder.path, 'parent'));
  const fork = createExperiment(join(folder.path, 'fork'), examplePlan()).runFolder('digits-baseline-0');
  using _lock = fork.lock();
  await forkRun(parent, 2, fork);
  expect(readdirSync(fork.outputsFolder).toSorted()).toEqual(['step-00001.txt', 'step-00002.txt']);
  expect(readFileSync(join(fork.outputsFolder, 'step-00002.txt'), 'utf8')).toBe('output 2\n');
});
