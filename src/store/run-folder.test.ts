import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { createExperiment } from './experiment.ts';

test('an incomplete record of a killed process is removed when the next process has the lease', async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(join(folder.path, 'experiment'), examplePlan());
  const run = experiment.runFolder('digits-baseline-0');
  const program = `
    const { openExperiment } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
    const { writeFileSync } = await import('node:fs');
    const run = openExperiment(${JSON.stringify(experiment.folder)}).runFolder('digits-baseline-0');
    run.lock();
    writeFileSync(run.recordPath + '.0123456789ab.tmp', '{"v":');
    writeFileSync(run.recordPath + '.notes.tmp', 'of somebody else');
    process.kill(process.pid, 'SIGKILL');`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).signal).toBe('SIGKILL');
  expect(readdirSync(run.folder).sort()).toEqual([
    'lease',
    'run.json.0123456789ab.tmp',
    'run.json.notes.tmp',
  ]);
  using _lease = await run.acquire();
  expect(readdirSync(run.folder).sort()).toEqual(['lease', 'run.json.notes.tmp']);
});

test('the lock of a process that was killed while it wrote results is removed, that of a living one is kept', async () => {
  using folder = temporaryFolder();
  const experiment = createExperiment(join(folder.path, 'experiment'), examplePlan());
  const run = experiment.runFolder('digits-baseline-0');
  const program = `
    const { openExperiment } = await import(${JSON.stringify(join(import.meta.dirname, 'index.ts'))});
    const run = openExperiment(${JSON.stringify(experiment.folder)}).runFolder('digits-baseline-0');
    await run.withoutResults(() => process.kill(process.pid, 'SIGKILL'));`;
  expect(spawnSync(process.execPath, ['--input-type=module', '-e', program]).signal).toBe('SIGKILL');
  expect(readdirSync(run.folder)).toEqual(['results-lock']);
  run.freeResults();
  expect(readdirSync(run.folder)).toEqual([]);
  await run.withoutResults(() => {
    run.freeResults();
    expect(readdirSync(run.folder)).toEqual(['results-lock']);
  });
});
