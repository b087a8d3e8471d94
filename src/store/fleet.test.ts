import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { examplePlan } from '../../test/fixtures/store/examples.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { createExperiment } from './experiment.ts';
import { openFleet } from './fleet.ts';

test('a plan that is nested too deeply is refused as soon as a run has begun', () => {
  const folder = join(temporaryFolder(), 'first');
  createExperiment(folder, examplePlan(['a', 'b']));
  const path = join(folder, 'plan.json');
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('"caveats": []', `"caveats": ${deep}`));
  expect(openFleet(folder)).toMatchObject({ queued: ['a', 'b'], begun: null });
  mkdirSync(join(folder, 'runs/a'), { recursive: true });
  expect(() => openFleet(folder)).toThrow('is not JSON');
});
