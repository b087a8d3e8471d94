import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { fakeGpus, twoGpus } from '../../../test/fakes/gpus.ts';
import { temporaryFolder } from '../../../test/fixtures/temporary-folder.ts';
import { isProcessAlive, processStartTime } from '../../lib/process-identity.ts';
import { listGpus } from '../../sandbox/index.ts';
import { GpuLeases } from './gpu-leases.ts';

const holder = join(import.meta.dirname, '../../../test/fixtures/gpu-holder.ts');
const never = new AbortController().signal;

async function leasesIn(folder: string): Promise<GpuLeases> {
  const system = fakeGpus(folder, twoGpus);
  return new GpuLeases(await listGpus(system, undefined), join(folder, 'leases'), system.smi, 10);
}

function start(...words: string[]): ChildProcess {
  return spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
}

test('no two processes ever have the same GPU (simulated), even if holders are killed at any moment', {
  timeout: 60_000,
}, async () => {
  const folder = temporaryFolder();
  const printed: Promise<string>[] = [];
  const begin = (rounds: number) => {
    const child = start(holder, folder, String(rounds));
    if (child.stdout === null) throw new Error('it prints nowhere');
    printed.push(text(child.stdout));
    return { child, ended: new Promise((end) => child.once('exit', end)) };
  };
  const killed = begin(1000);
  const all = [begin(4), begin(4)];
  await new Promise((resolve) => killed.child.stdout?.once('data', resolve));
  killed.child.kill('SIGKILL');
  expect(await Promise.all(all.map(({ ended }) => ended))).toEqual([0, 0]);
  const lines = (await Promise.all(printed)).join('').trim().split('\n');
  expect(lines.filter((line) => !/^held (\d) of \1$/.test(line))).toEqual([]);
  expect(lines.length).toBeGreaterThanOrEqual(9);
});

test('a run that wants more GPUs (simulated) than are free waits, and says so', async () => {
  const leases = await leasesIn(temporaryFolder());
  const one = await leases.lease(1, { signal: never });
  const reasons: string[] = [];
  const both = leases.lease(2, { signal: never, onWait: (reason) => reasons.push(reason) });
  await expect.poll(() => reasons).toEqual(['1 of 2 GPUs']);
  await one[Symbol.asyncDispose]();
  await using held = await both;
  expect(held.gpus.map(({ uuid }) => uuid).sort()).toEqual(['GPU-aaaa-1', 'GPU-bbbb-2']);
  const stopping = new AbortController();
  const third = leases.lease(1, { signal: stopping.signal });
  stopping.abort(new Error('stopped'));
  await expect(third).rejects.toThrow();
  await expect(leases.lease(3, { signal: never })).rejects.toThrow(
    'The run needs 3 GPUs, and this machine has 2.',
  );
});

test('processes that a run left on its GPU (simulated) are ended before the next run gets it, and no others', async () => {
  const leases = await leasesIn(temporaryFolder());
  const left = spawn('sleep', ['60'], { env: { MLAB_GPU_aaaa_1: '1', PATH: '/usr/bin:/bin' } });
  const others = spawn('sleep', ['60'], {
    env: { CUDA_VISIBLE_DEVICES: 'GPU-aaaa-1', PATH: '/usr/bin:/bin' },
  });
  const pids = [left, others].map(({ pid = 0 }) => ({ pid, started: processStartTime(pid) }));
  try {
    await using held = await leases.lease(1, { signal: never });
    expect(held.gpus[0]?.uuid).toBe('GPU-aaaa-1');
    expect(pids.map(({ pid, started }) => isProcessAlive(pid, started))).toEqual([false, true]);
  } finally {
    for (const child of [left, others]) child.kill('SIGKILL');
  }
});

test('the use of GPUs (simulated) is added to that of earlier sessions of the run', async () => {
  const leases = await leasesIn(temporaryFolder());
  await using held = await leases.lease(2, { signal: never });
  await expect.poll(() => held.added(undefined).busy_seconds).toBeGreaterThan(0);
  const earlier = { uuids: ['GPU-0'], held_seconds: 100, busy_seconds: 10, peak_memory_bytes: 2 ** 33 };
  const together = held.added(earlier);
  expect(together.uuids).toEqual(['GPU-aaaa-1', 'GPU-bbbb-2']);
  expect(together.held_seconds).toBeGreaterThan(100);
  expect(together.busy_seconds).toBeGreaterThan(10);
  expect(together.peak_memory_bytes).toBe(2 ** 33);
});
