import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type FakeGpu, fakeDriver, fakeGpus, twoGpus } from '../../../test/fakes/gpus.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { checkSandbox } from '../check-sandbox.ts';
import { createSandbox } from '../create-sandbox.ts';
import { containerArguments } from '../docker-arguments.ts';
import { makePlace, obstacleTo, run } from '../test-support.ts';
import { cudaObstacle } from './cuda-obstacle.ts';
import { gpuSystemOf } from './gpu.ts';
import { GpuSampler } from './gpu-sampler.ts';
import { listGpus } from './list-gpus.ts';

const divided: FakeGpu = {
  ...{ index: 0, uuid: 'GPU-cccc-3', bus: '00000000:17:00.0', minor: 3 },
  slices: [
    { uuid: 'MIG-1111', gpuInstance: 9, computeInstance: 0, capabilities: [84, 85] },
    { uuid: 'MIG-2222', gpuInstance: 7, computeInstance: 1, capabilities: [66, 68] },
  ],
};
const targets = (devices: readonly { target: string }[]) => devices.map(({ target }) => target);

describe('the GPUs of a machine (simulated)', () => {
  it('have the device files that the driver numbers them by, which may be in another order', async () => {
    const gpus = await listGpus(fakeGpus(temporaryFolder(), twoGpus), undefined);
    expect(gpus.map(({ uuid, devices }) => [uuid, targets(devices)])).toEqual([
      ['GPU-aaaa-1', ['/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia1']],
      ['GPU-bbbb-2', ['/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia0']],
    ]);
    expect(gpus[0]).toMatchObject({ card: 'GPU-aaaa-1', name: 'Fake GPU', memoryMb: 81559 });
  });

  it('are those that CUDA_VISIBLE_DEVICES allows', async () => {
    const system = fakeGpus(temporaryFolder(), [...twoGpus, { ...divided, index: 2 }]);
    const uuids = async (visible: string) => (await listGpus(system, visible)).map(({ uuid }) => uuid);
    expect(await uuids('1')).toEqual(['GPU-bbbb-2']);
    expect(await uuids('GPU-aaaa,MIG-2222')).toEqual(['GPU-aaaa-1', 'MIG-2222']);
    expect(await uuids('')).toEqual([]);
    expect(await uuids('-1')).toEqual([]);
  });

  it('are slices where one is divided, each with the device files for this slice only', async () => {
    const gpus = await listGpus(fakeGpus(temporaryFolder(), [divided]), undefined);
    const common = ['/dev/nvidiactl', '/dev/nvidia-uvm', '/dev/nvidia3'];
    const caps = (...numbers: number[]) => numbers.map((number) => `/dev/nvidia-caps/nvidia-cap${number}`);
    expect(gpus.map(({ uuid, card, devices }) => [uuid, card, targets(devices)])).toEqual([
      ['MIG-1111', 'GPU-cccc-3', [...common, ...caps(84, 85)]],
      ['MIG-2222', 'GPU-cccc-3', [...common, ...caps(66, 68)]],
    ]);
  });

  it('are none where there is no nvidia-smi, or no driver', async () => {
    const folder = temporaryFolder();
    const system = fakeGpus(folder, twoGpus);
    expect(await listGpus({ ...system, smi: join(folder, 'none') }, undefined)).toEqual([]);
    expect(await listGpus({ ...system, smi: '/bin/false' }, undefined)).toEqual([]);
  });

  it('are listed by mlab doctor', async () => {
    const { smi } = fakeGpus(temporaryFolder(), twoGpus);
    const found = (await checkSandbox({ MLAB_NVIDIA_SMI: smi })).find(({ name }) => name === 'GPU');
    expect(found?.detail).toContain('Fake GPU (80 GiB) GPU-aaaa-1, Fake GPU (80 GiB) GPU-bbbb-2');
    // Their device files are not in this machine's /dev.
    expect(found).toMatchObject({ state: 'warning', fix: expect.stringContaining('nvidia-modprobe') });
    expect(gpuSystemOf({ MLAB_NVIDIA_SMI: smi })).toMatchObject({ smi, dev: '/dev' });
  });
});

describe('a sandbox with a GPU (simulated)', () => {
  const script =
    'cd /dev; for f in nvidia*; do [ -d "$f" ] && ls -d $f/* || echo "$f $(cat $f)"; done; echo "$CUDA_VISIBLE_DEVICES"';

  it('shows the device files of that GPU only, and names it to CUDA', async (context) => {
    const obstacle = await obstacleTo('bubblewrap');
    if (obstacle !== null) context.skip(obstacle);
    const gpus = await listGpus(
      fakeGpus(temporaryFolder(), [...twoGpus, { ...divided, index: 2 }]),
      undefined,
    );
    using place = makePlace();
    const seenWith = async (...uuids: string[]) => {
      const given = gpus.filter(({ uuid }) => uuids.includes(uuid));
      await using sandbox = await createSandbox('bubblewrap', place.spec({ gpus: given }), {});
      const end = await run(sandbox, script);
      return end.output.trim().split('\n');
    };
    expect(await seenWith('GPU-bbbb-2')).toEqual([
      ...['nvidia-uvm nvidia-uvm', 'nvidia0 card 0', 'nvidiactl nvidiactl', 'GPU-bbbb-2'],
    ]);
    expect(await seenWith('MIG-2222')).toEqual([
      ...['nvidia-caps/nvidia-cap66', 'nvidia-caps/nvidia-cap68', 'nvidia-uvm nvidia-uvm'],
      ...['nvidia3 card 3', 'nvidiactl nvidiactl', 'MIG-2222'],
    ]);
    expect(await seenWith()).toEqual(["cat: 'nvidia*': No such file or directory", 'nvidia*']);
  });

  it('shows a driver that only LD_LIBRARY_PATH leads to, without which it can not be computed on', async (context) => {
    const obstacle = await obstacleTo('bubblewrap');
    if (obstacle !== null) context.skip(obstacle);
    const folder = fakeDriver(temporaryFolder());
    if (folder === null) return context.skip('no C compiler');
    const { libraries } = gpuSystemOf({ LD_LIBRARY_PATH: `/usr/lib:lib::${temporaryFolder()}:${folder}` });
    expect(libraries).toEqual([folder]);
    const system = fakeGpus(temporaryFolder(), twoGpus);
    using place = makePlace();
    const obstacleWith = async (found: readonly string[], count = 2) => {
      const gpus = await listGpus({ ...system, libraries: found }, undefined);
      await using sandbox = await createSandbox('bubblewrap', place.spec({ gpus: gpus.slice(0, count) }), {});
      return await cudaObstacle(sandbox, gpus);
    };
    expect(await obstacleWith(libraries)).toBeNull();
    expect(await obstacleWith(libraries, 1)).toBe('CUDA finds 1 of 2 GPUs');
    expect(await obstacleWith([])).toContain('libcuda.so.1: cannot open shared object file');
  });

  it('requests it for a container by its UUID', async () => {
    const gpus = await listGpus(fakeGpus(temporaryFolder(), twoGpus), undefined);
    using place = makePlace();
    const words = (isPodman: boolean) =>
      containerArguments(place.spec({ gpus }), {
        ...{ isPodman, user: { uid: 1, gid: 1 }, image: null, seccompProfile: '/none', mounts: [] },
      }).join(' ');
    expect(words(false)).toContain('--gpus "device=GPU-aaaa-1,GPU-bbbb-2"');
    expect(words(false)).toContain('--env CUDA_VISIBLE_DEVICES=GPU-aaaa-1,GPU-bbbb-2');
    expect(words(true)).toContain('--device nvidia.com/gpu=GPU-aaaa-1 --device nvidia.com/gpu=GPU-bbbb-2');
  });
});

describe('the measured use of GPUs (simulated)', () => {
  it('is the time that they were held and computed, and the peak memory of one', async () => {
    const system = fakeGpus(temporaryFolder(), twoGpus);
    const gpus = await listGpus(system, undefined);
    const sampler = new GpuSampler(system.smi, gpus, 10);
    await expect.poll(() => sampler.use().peakMemoryBytes).toBe(3000 * 2 ** 20);
    await sampler[Symbol.asyncDispose]();
    const { heldSeconds, busySeconds } = sampler.use();
    expect(busySeconds).toBeGreaterThan(0);
    expect(busySeconds).toBeLessThanOrEqual(0.75 * heldSeconds);
  });

  it('is unknown for a slice, and where nvidia-smi reports nothing', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'mig'));
    for (const gpus of [[divided], [{ ...divided, slices: [], utilization: '[N/A]', memoryUsed: '[N/A]' }]]) {
      const system = fakeGpus(join(folder, 'mig'), gpus);
      const sampler = new GpuSampler(system.smi, await listGpus(system, undefined), 10);
      await sampler[Symbol.asyncDispose]();
      expect(sampler.use()).toMatchObject({ busySeconds: null, peakMemoryBytes: null });
    }
  });
});
