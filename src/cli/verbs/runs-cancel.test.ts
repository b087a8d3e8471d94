import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { ExperimentName } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { createContext } from '../context.ts';
import { runsCancel } from './runs-cancel.ts';

async function cancel(folder: string, names: string[]) {
  const { signal } = new AbortController();
  return await runsCancel.run(createContext({ dir: folder }, {}, '1', signal), names, {});
}

test('for runs that a process of this machine executes, it says which process to interrupt', async () => {
  const folder = temporaryFolder();
  const experiment = createExperiment(join(folder, 'first'), examplePlan(['one', 'two', 'three']));
  const second = { ...examplePlan(['one']), name: ExperimentName.parse('second') };
  createExperiment(join(folder, 'second'), second);
  using _one = experiment.runFolder('one').lock();
  using _two = experiment.runFolder('two').lock();
  const { text, exitCode, json } = await cancel(folder, ['first', 'second']);
  const lines = text.split('\n');
  expect(lines[0]).toMatch(
    new RegExp(`^first: 2 runs are executed by process ${process.pid} on \\S+: press Ctrl-C`),
  );
  expect(lines[1]).toBe('second: No job was queued or running.');
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({ experiments: [{ experiment: 'first', on: 'local', jobs: 2 }, { jobs: 0 }] });
});

test('of single runs only those are meant that were named', async () => {
  const folder = temporaryFolder();
  const experiment = createExperiment(join(folder, 'first'), examplePlan(['one', 'two', 'three']));
  using _one = experiment.runFolder('one').lock();
  using _two = experiment.runFolder('two').lock();
  const { text } = await cancel(folder, ['first/two', 'first/three']);
  expect(text).toMatch(/^first: 1 run is executed by process/);
  expect((await cancel(folder, ['first/t*ee'])).text).toBe('first: No job was queued or running.');
});

test('unknown runs and experiments, and a recorded address that is not set here, are refused', async () => {
  const folder = temporaryFolder();
  const experiment = createExperiment(join(folder, 'first'), examplePlan(['one']));
  await expect(cancel(folder, ['first/oen'])).rejects.toThrow('There is no experiment or run');
  await expect(cancel(folder, ['frist'])).rejects.toThrow('There is no experiment');
  experiment.recordExecutor('redis://queue.example:6379');
  await expect(cancel(folder, ['first'])).rejects.toThrow('redis://queue.example:6379');
});
