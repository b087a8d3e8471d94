import { join } from 'node:path';
import { expect } from 'vitest';
import { agentByName } from '../src/agents/index.ts';
import { evaluateRun } from '../src/evaluation/index.ts';
import { gradeRun } from '../src/grading/index.ts';
import { cacheFolder } from '../src/lib/cache-folder.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';
import { helpersFolder } from './fixtures/fixture-task.ts';
import { testInSandbox } from './fixtures/needs-sandbox.ts';
import { runOnce } from './fixtures/run-place.ts';
import { makeSkeletonTask, type SkeletonKind } from './fixtures/skeleton-task.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

/** Whole runs of automl on synthetic tasks whose starters lack their model. */

async function hiddenScoreOf(kind: SkeletonKind) {
  const folder = temporaryFolder();
  const tasks = join(folder, 'tasks');
  const task = loadTask(makeSkeletonTask(tasks, kind), [tasks]);
  // The packages are those of a task of the project; the data is synthetic.
  const python = await ensurePython(task.requirements, { cache: cacheFolder(process.env) });
  const prepared = await prepareTask(task, {
    ...{ cache: join(folder, 'cache'), helpers: helpersFolder, allowUnverified: false, python },
  });
  const resources = { task, python, prepared, concealed: [] };
  const changes = { tasks: [task.file.id], limits: { steps: 16, wall_seconds: 60 } };
  const { record, folder: run } = await runOnce(folder, resources, agentByName('automl'), { changes });
  await gradeRun({
    folder: run,
    ...resources,
    helpersFolder,
    which: 'all',
    signal: AbortSignal.timeout(60_000),
  });
  const { grades, integrity } = evaluateRun(run, record.spec);
  expect(integrity).toEqual([]);
  const first = grades.find(({ valid }) => valid);
  return { first: first?.score, last: grades.at(-1) };
}

testInSandbox('automl writes the missing model of numbers with a long tail', async () => {
  const { first, last } = await hiddenScoreOf('regression');
  expect(last).toMatchObject({ valid: true, final: true });
  // The median of all prices has an error of about 3,500; a model that knows everything but the noise, one of about
  // 360.
  expect(first).toBeLessThan(1750);
  expect(last?.score).toBeLessThan(1500);
});

testInSandbox('automl writes a missing classification model', async () => {
  const { first, last } = await hiddenScoreOf('classification');
  expect(last).toMatchObject({ valid: true, final: true });
  expect(first).toBeGreaterThan(0.75);
  expect(last?.score).toBeGreaterThan(0.8);
});
