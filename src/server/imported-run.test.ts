import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  examplePlan,
  exampleRecord,
  sessionStarted,
  stepFinished,
  stepStarted,
} from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { get, startViewer } from '../../test/fixtures/viewer-place.ts';
import { importCaveat, ObjectId, RunPage, StepPage } from '../schema/index.ts';
import { createExperiment } from '../store/index.ts';

test('an imported run shows unrecorded values as unknown, whatever its plan contains', async () => {
  const scratch = temporaryFolder();
  const plan = examplePlan();
  const runs = plan.runs.map((spec) => ({ ...spec, agent: 'original', caveats: [importCaveat] }));
  const experiment = createExperiment(join(scratch, 'experiments/first'), { ...plan, runs });
  const [spec] = runs;
  if (spec === undefined) throw new Error('the plan is empty');
  const folder = experiment.runFolder(spec.id);
  folder.writeRecordSync(exampleRecord({ spec, status: 'finished', steps: 1 }));
  const trace = folder.openTrace();
  const snapshot = ObjectId.parse('0'.repeat(64));
  trace.append(sessionStarted(snapshot));
  trace.append(stepStarted(1));
  trace.append(stepFinished(1, snapshot));
  await trace.close();
  const viewer = await startViewer([join(scratch, 'experiments')], scratch);
  const page = await get(viewer, `/api/experiments/first/runs/${spec.id}`, RunPage);
  expect(page).toMatchObject({ sandbox: null, limits: null, gpu: null, seed: null, caveats: [importCaveat] });
  const step = await get(viewer, `/api/experiments/first/runs/${spec.id}/steps/1`, StepPage);
  expect(step.budget).toBeNull();
});
