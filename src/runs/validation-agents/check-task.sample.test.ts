import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import type { TaskResources } from '../workspace.ts';
import { checkTask } from './check-task.ts';
import type { ValidationAgent } from './validation-agent.ts';
import { validationAgentsByName } from './validation-agents.ts';

const bench = new TaskBench();
let resources: TaskResources;
beforeAll(async () => {
  resources = await bench.provision();
}, 120_000);
afterAll(() => bench[Symbol.dispose]());

const throwing: ValidationAgent = {
  ...{ name: 'throwing', summary: 'throws at once', expects: 'no_success', limits: {}, graded: 'final' },
  fits: () => true,
  stage: () => Promise.reject(new Error('there is no stage')),
};

test('a validation agent that throws is reported, and the others continue', async () => {
  const folder = join(bench.folder, 'check');
  const reports = await checkTask({
    ...{ resources, helpersFolder, folder, versions: {}, sandbox: 'bubblewrap', parallel: 2 },
    validationAgents: [throwing, ...validationAgentsByName(['oracle'])],
    signal: AbortSignal.timeout(60_000),
    ...{ onProgress: () => {}, onReport: () => {} },
  });
  expect(reports.map(({ agent, ok, faults }) => ({ agent, ok, faults }))).toEqual([
    { agent: 'throwing', ok: false, faults: ['it could not be run: there is no stage'] },
    { agent: 'oracle', ok: true, faults: [] },
  ]);
  expect(existsSync(folder)).toBe(true);
}, 90_000);

test('a solution and a starter that crash are reported with their tracebacks', async () => {
  const broken = 'import csv\n\nraise KeyError("no column y")\n';
  const tasks = bench.copyTask('crashing', { 'hidden/solution/train.py': broken, 'env/train.py': broken });
  const reports = await checkTask({
    ...{ resources: await bench.provision(tasks), helpersFolder, folder: join(bench.folder, 'crashed') },
    ...{ versions: {}, sandbox: 'bubblewrap', parallel: 2 },
    validationAgents: validationAgentsByName(['oracle', 'baseline']),
    signal: AbortSignal.timeout(60_000),
    ...{ onProgress: () => {}, onReport: () => {} },
  });
  expect(reports.map(({ agent, ok }) => [agent, ok])).toEqual([
    ['oracle', false],
    ['baseline', false],
  ]);
  for (const { faults } of reports) expect(faults[0]).toMatch(/line 3[\s\S]*KeyError: 'no column y'/);
}, 90_000);
