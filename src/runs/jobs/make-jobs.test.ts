import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { agentByName } from '../../agents/index.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { ExperimentFile } from '../../schema/index.ts';
import { createExperiment } from '../../store/index.ts';
import { loadTask } from '../../tasks/index.ts';
import { makePlan } from '../plan.ts';
import { machineAmounts } from './capacity.ts';
import { makeRunJob } from './make-jobs.ts';

const task = loadTask('digits', [join(import.meta.dirname, '../../../tasks')]);

/** What the only run of an experiment holds while it is executed on this machine. */
function heldBy(changes: Record<string, unknown>) {
  const file = ExperimentFile.parse({ tasks: ['digits'], agents: ['baseline'], ...changes });
  const plan = makePlan(
    file,
    [{ task, verified: true }],
    [{ agent: agentByName('baseline'), options: {} }],
    '1',
  );
  const folder = mkdtempSync(join(tmpdir(), 'mlab-test-'));
  onTestFinished(() => removeTree(folder));
  const [run] = plan.runs;
  if (run === undefined) throw new Error('the plan has no run');
  return makeRunJob(
    run,
    {
      ...{ plan, experiment: createExperiment(join(folder, plan.name), plan), mlab: '1', isHere: true },
      ...{ tasks: new Map([[task.file.id, task]]), modelsFolder: folder },
      provisioning: { allow_unverified: false },
    },
    false,
  ).resources;
}

test('the number of parallel runs divides memory and cores, whatever the limits of a run', () => {
  const held = heldBy({ parallel: 1000, limits: { memory_mb: 4096 } });
  expect(1000 * held.memory_mb).toBeLessThanOrEqual(Math.max(1000, machineAmounts().memory_mb));
  expect(1000 * held.cores).toBeLessThanOrEqual(machineAmounts().cores * 1.001);
});

test('a run reserves the memory that is stated for it, or its limit if none is stated', () => {
  expect(heldBy({ resources: { memory_mb: 300 }, limits: { memory_mb: 400 } }).memory_mb).toBe(300);
  expect(heldBy({ limits: { memory_mb: 400 } }).memory_mb).toBe(400);
});

test('a run whose branches execute scripts concurrently reserves memory for all of them', () => {
  expect(heldBy({ limits: { memory_mb: 200, branches_at_once: 3 } }).memory_mb).toBe(600);
});
