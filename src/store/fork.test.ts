import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  examplePlan,
  exampleSpec,
  runEnded,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import type { RunParent } from '../schema/index.ts';
import { createExperiment } from './experiment.ts';
import { forkRun } from './fork.ts';
import { outputFile, type RunFolder } from './run-folder.ts';
import { SnapshotTaker } from './snapshot-taker.ts';
import { readTraceSync } from './trace-reader.ts';

const at = (step: number): RunParent => ({ experiment: examplePlan().name, run: exampleSpec().id, step });

/** A finished run of three steps, each with an output that was too long for its observation, and lines printed before it. */
async function finishedRun(folder: string, lines = 0): Promise<RunFolder> {
  const run = createExperiment(folder, examplePlan()).runFolder('digits-baseline-0');
  using _lock = run.lock();
  await using trace = run.openTrace();
  const workspace = join(folder, 'workspace');
  for (const name of [workspace, run.outputsFolder]) mkdirSync(name, { recursive: true });
  const { id } = await new SnapshotTaker(run.objects, workspace).take();
  trace.append(sessionStarted(id));
  for (const step of [1, 2, 3]) {
    trace.append(stepStarted(step));
    for (let line = 0; line < lines; line += 1) trace.append({ kind: 'output', step, text: 'line\n' });
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
  await forkRun(parent, at(2), fork);
  expect(readdirSync(fork.outputsFolder).toSorted()).toEqual(['step-00001.txt', 'step-00002.txt']);
  expect(readFileSync(join(fork.outputsFolder, 'step-00002.txt'), 'utf8')).toBe('output 2\n');
});

test('a fork that has steps of its own copies nothing more from its parent, whatever happened to that', async () => {
  using folder = temporaryFolder();
  const parent = await finishedRun(join(folder.path, 'parent'));
  const fork = createExperiment(join(folder.path, 'fork'), examplePlan()).runFolder('digits-baseline-0');
  using _lock = fork.lock();
  await forkRun(parent, at(1), fork);
  const [begun] = readTraceSync(fork.tracePath).events;
  if (begun?.kind !== 'session_started') throw new Error('a fork begins with a session of its parent');
  {
    await using trace = fork.openTrace();
    trace.append({ ...sessionStarted(begun.snapshot, 2), parent: at(1) });
    trace.append(stepStarted(2));
  }
  const before = readTraceSync(fork.tracePath).events;
  const restarted = await finishedRun(join(folder.path, 'restarted'), 20);
  await forkRun(restarted, at(1), fork);
  expect(readTraceSync(fork.tracePath).events).toEqual(before);
});
