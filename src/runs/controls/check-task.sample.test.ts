import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import type { TaskEquipment } from '../workspace.ts';
import { checkTask } from './check-task.ts';
import type { Control } from './control.ts';
import { controlsByName } from './controls.ts';

const bench = new TaskBench();
let equipment: TaskEquipment;
beforeAll(async () => {
  equipment = await bench.equip();
}, 120_000);
afterAll(() => bench[Symbol.dispose]());

const throwing: Control = {
  ...{ name: 'throwing', summary: 'throws at once', expects: 'no_success', limits: {}, graded: 'final' },
  fits: () => true,
  stage: () => Promise.reject(new Error('there is no stage')),
};

test('a validation agent that throws is reported, and the others come to their end', async () => {
  const folder = join(bench.folder, 'check');
  const reports = await checkTask({
    ...{ equipment, helpersFolder, folder, versions: {}, sandbox: 'bubblewrap', parallel: 2 },
    controls: [throwing, ...controlsByName(['oracle'])],
    signal: AbortSignal.timeout(60_000),
    ...{ onProgress: () => {}, onReport: () => {} },
  });
  expect(reports.map(({ control, ok, faults }) => ({ control, ok, faults }))).toEqual([
    { control: 'throwing', ok: false, faults: ['it could not be carried out: there is no stage'] },
    { control: 'oracle', ok: true, faults: [] },
  ]);
  expect(existsSync(folder)).toBe(true);
}, 90_000);
