import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { fakeDriver, fakeGpus, twoGpus } from '../../../test/fakes/gpus.ts';
import { fixtureTasks, helpersFolder, TaskBench } from '../../../test/fixtures/fixture-task.ts';
import { noSandbox } from '../../../test/fixtures/needs-sandbox.ts';
import { planOf, workThrough } from '../../../test/fixtures/run-place.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { agentByName } from '../../agents/index.ts';
import { evaluateRun } from '../../evaluation/index.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import { listGpus } from '../../sandbox/index.ts';
import { createExperiment, openExperiment, readTraceSync, resolveText, stepsOf } from '../../store/index.ts';
import { measureTask } from '../measure-task.ts';
import { GpuLeases } from './gpu-leases.ts';

const bench = new TaskBench();
afterAll(() => bench[Symbol.dispose]());

const driverFolder = mkdtempSync(join(tmpdir(), 'mlab-driver-'));
afterAll(() => removeTree(driverFolder));
const driver = fakeDriver(driverFolder);
const obstacle = noSandbox ?? (driver === null ? 'no C compiler for a driver' : null);
const why = obstacle === null ? '' : ` (skipped: ${obstacle})`;

const says = `import os
print("sees", sorted(name for name in os.listdir("/dev") if name.startswith("nvidia")), os.environ.get("CUDA_VISIBLE_DEVICES"))
`;

describe.skipIf(obstacle !== null)(`runs of a task that needs a GPU (simulated)${why}`, () => {
  test('have one each and see no other, in parallel or one after the other, and record its use', async () => {
    const starter = readFileSync(join(fixtureTasks, 'sums/env/train.py'), 'utf8');
    const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
    const tasks = bench.copyTask('with-gpu', {
      'env/train.py': `${says}${starter}`,
      'task.yaml': `${yaml}resources: { gpu: optional }\n`,
    });
    const resources = await bench.provision(tasks);
    const system = { ...fakeGpus(temporaryFolder(), twoGpus), libraries: [driver ?? ''] };
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

  test('are measured on one, too', async () => {
    const yaml = readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8');
    const starter = readFileSync(join(fixtureTasks, 'sums/env/train.py'), 'utf8');
    const resources = await bench.provision(
      bench.copyTask('measured', {
        'env/train.py': `${says}${starter}`,
        'task.yaml': `${yaml}resources: { gpu: optional }\n`,
      }),
    );
    const system = { ...fakeGpus(temporaryFolder(), twoGpus), libraries: [driver ?? ''] };
    const { signal } = new AbortController();
    const leases = new GpuLeases(await listGpus(system, undefined), temporaryFolder(), system.smi, 20);
    await using gpus = await leases.lease(1, { signal });
    const folder = join(bench.experiments, 'measured');
    await measureTask({
      ...{ resources, what: 'starter', seeds: [0], sandbox: 'bubblewrap', helpersFolder, folder },
      ...{ versions: {}, threads: 1, gpus, signal, onSeed: () => {}, onProgress: () => {} },
    });
    const record = openExperiment(folder).runFolder('sums-starter-0').readRecord();
    expect(record).toMatchObject({ spec: { gpu: true, gpus: 1 }, gpus: { uuids: ['GPU-aaaa-1'] } });
  });

  test('fail if no program could use the GPU, before the agent acts', async () => {
    const resources = await bench.provision(
      bench.copyTask('without-driver', {
        'task.yaml': `${readFileSync(join(fixtureTasks, 'sums/task.yaml'), 'utf8')}resources: { gpu: optional }\n`,
      }),
    );
    const system = fakeGpus(temporaryFolder(), twoGpus);
    const gpus = new GpuLeases(await listGpus(system, undefined), temporaryFolder(), system.smi, 20);
    const plan = planOf(resources, agentByName('baseline'), { gpu: true });
    const experiment = createExperiment(join(bench.experiments, 'no-driver'), plan);
    const [result] = await workThrough(experiment, resources, 'continue', { gpus });
    expect(result?.record).toMatchObject({ status: 'failed', steps: 0 });
    expect(result?.record?.end?.message).toMatch(/can't use the run's GPU: libcuda.so.1: cannot open/);
  });
});
