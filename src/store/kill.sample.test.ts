import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { checkRun } from './check-run.ts';
import { openExperiment } from './experiment.ts';
import { restoreSnapshot } from './restore.ts';
import { stepsOf } from './steps.ts';
import { readTraceSync } from './trace-reader.ts';

const writer = join(import.meta.dirname, '../../test/fixtures/store/step-writer.ts');

/** Starts the writer, kills it at a random moment, and returns the last step that it reported as finished. */
async function runAndKill(experiment: string, workspace: string): Promise<number> {
  const child = spawn(process.execPath, [writer, experiment, workspace], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
  });
  await once(child.stdout, 'data');
  await setTimeout(Math.random() * 60);
  child.kill('SIGKILL');
  await once(child, 'close');
  return Number(output.trimEnd().split('\n').at(-1));
}

test('kill -9 at any moment loses no finished step, and the next writer continues', {
  timeout: 120_000,
}, async () => {
  using folder = temporaryFolder();
  const experiment = join(folder.path, 'experiment');
  let finished = 0;
  for (let round = 0; round < 15; round++) {
    const told = await runAndKill(experiment, join(folder.path, 'workspace'));
    expect(told).toBeGreaterThan(finished);
    const run = openExperiment(experiment).runFolder('digits-baseline-0');
    expect(run.holder()).toBeNull();
    const problems = await checkRun(run);
    expect(problems.filter((problem) => problem.code !== 'torn_line')).toEqual([]);
    const steps = stepsOf(readTraceSync(run.tracePath).events);
    expect(steps.map(({ step }) => step)).toEqual(steps.map((_, index) => index + 1));
    expect(steps.length).toBeGreaterThanOrEqual(told);
    // The step after the last reported one may have been finished too, but no later one.
    expect(steps.length).toBeLessThanOrEqual(told + 1);
    expect(run.readRecord()?.steps).toBeGreaterThanOrEqual(steps.length - 10);
    finished = steps.length;
  }
  const run = openExperiment(experiment).runFolder('digits-baseline-0');
  for (const { finished } of stepsOf(readTraceSync(run.tracePath).events).slice(-3)) {
    await restoreSnapshot(run.objects, finished.snapshot, join(folder.path, `step-${finished.step}`));
  }
});
