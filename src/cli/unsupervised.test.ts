import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan, exampleSpec } from '../../test/fixtures/store/examples.ts';
import { WrittenRun } from '../../test/fixtures/store/recorded-run.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createExperiment } from '../store/index.ts';
import { unsupervisedWarning } from './unsupervised.ts';

const instead = { name: 'Read File', args: { file_name: 'a.txt' } };

test('runs that asked before their actions are named before they continue without asking, and no others', async () => {
  const ids = ['asked', 'ended', 'alone', 'later', 'pending'];
  const experiment = createExperiment(join(temporaryFolder(), 'first'), examplePlan(ids));
  const written = (id: string) => new WrittenRun(experiment.runFolder(id), exampleSpec(id));
  await written('asked').session(1, null, instead);
  await written('ended').session(1, 'final_answer', instead);
  await written('alone').session(1);
  await written('later').session(1, null, instead);
  const runs = experiment.plan.runs.map((run) =>
    run.id === 'later' ? { ...run, approve_later: true } : run,
  );
  const warning = unsupervisedWarning(experiment, runs);
  expect(warning).toContain('1 run supervised so far will continue without supervision: first/asked.\n');
  expect(warning).toContain('add --approve');
  const others = runs.filter(({ id }) => id !== 'asked');
  expect(unsupervisedWarning(experiment, others)).toBeNull();
});
