import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fakeGpus, twoGpus } from '../../../test/fakes/gpus.ts';
import { fixtureTasks, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { planOf, workThrough } from '../../../test/fixtures/run-place.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { agentByName } from '../../agents/index.ts';
import { evaluateRun } from '../../evaluation/index.ts';
import { checkSandbox, listGpus } from '../../sandbox/index.ts';
import { createExperiment, readTraceSync, resolveText, stepsOf } from '../../store/index.ts';
import { GpuLeases } from './gpu-leases.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const missing = (await checkSandbox()).find(({ state }) => state === 'missing');
const why = missing === undefined ? '' : ` (skipped: ${missing.detail})`;

const says = `import os
print("sees", sorted(name for name in os.listdir("/dev") if name.startswith("nvidia")), os.environ.get("CUDA_VISIBLE_DEVICES"))
`;

describe.skipIf(missing !== undefined)(`runs of a task that needs a GPU (simulated)${why}`, () => {
  test('have one each and see no other, in parallel or one after the other, and record its use', async () => {
    const starter = readFileSync(join(fixtureTasks, 'sums/env/train.py'), 'utf8');
    const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
    const tasks = bench.copyTask('with-gpu', {
      'env/train.py': `${says}${starter}`,
      'task.yaml': `${yaml}resources: { gpu: optional }\n`,
    });
    const resources = await bench.provision(tasks);
    const system = fakeGpus(temporaryFolder(), twoGpus);
    const gpus = new GpuLeases(await listGpus(system, undefined), temporaryFolder(), system.smi, 20);
    const plan = planOf(resources, agentByName('baseline'), { seeds: 3, gpu: true, parallel: 3 });
    const experiment = createExperiment(join(bench.experiments, 'gpus'), plan);

    const without = await workThrough(experiment, resources);
    expect(without.map(({ problem }) => problem)).toEqual(
      plan.runs.map(() => "can't be executed here: it needs 1 GPU; all that is here for jobs: no GPU"),
    );

    const results = await workThrough(experiment, resources, 'continue', { gpus });
    expect(results.map(({ problem }) => problem)).toEqual([null, null, null]);
    for (const { spec, record } of results) {
      const folder = experiment.runFolder(spec.id);
      const steps = stepsOf(readTraceSync(folder.tracePath).events);
      const printed = steps
        .map(({ finished }) => resolveText(folder.objects, finished.observation))
        .join('\n');
      const [uuid = ''] = record?.gpus?.uuids ?? [];
      const node = uuid === 'GPU-aaaa-1' ? 'nvidia1' : 'nvidia0';
      expect(printed).toContain(`sees ['nvidia-uvm', '${node}', 'nvidiactl'] ${uuid}\n`);
      const { gpus: used } = evaluateRun(folder, spec).efficiency;
      expect(used?.held_seconds).toBeGreaterThan(0);
      expect(used?.busy_seconds).toBeGreaterThan(0);
      expect(used?.peak_memory_bytes).toBe((uuid === 'GPU-aaaa-1' ? 1000 : 3000) * 2 ** 20);
    }
  });
});
