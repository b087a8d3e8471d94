import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import { findLimiter } from './limits/find-limiter.ts';
import type { Sandbox } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run } from './test-support.ts';

const obstacle = await obstacleTo('bubblewrap');
const grouped = (await findLimiter()).mechanism;
const mechanisms = grouped.startsWith('cgroup') ? (['best', 'rlimits'] as const) : (['rlimits'] as const);

const greedy =
  'b = bytearray(600_000_000)\\nfor i in range(0, len(b), 4096): b[i] = 1\\nimport time; time.sleep(5)';

const needsGroups = 'only control groups can tell this';

describe.each(mechanisms)('limits with the mechanism %s', (limits) => {
  let place: Place;
  let sandbox: Sandbox;

  beforeEach(async (context) => {
    if (obstacle !== null) context.skip(obstacle);
    place = makePlace();
    sandbox = await createSandbox('bubblewrap', place.spec(), { limits });
  });

  afterEach(async () => {
    await sandbox?.[Symbol.asyncDispose]();
    place?.[Symbol.dispose]();
  });

  it('ends a memory bomb and says so', async () => {
    const end = await run(sandbox, `printf '${greedy}' > bomb.py; exec python3 bomb.py`);
    // A single process may also be refused before the sum is noticed.
    if (limits === 'best') expect(end.ending).toBe('out_of_memory');
    else expect(end.ending === 'out_of_memory' || end.output.includes('MemoryError')).toBe(true);
  });

  it('ends a memory bomb of many small processes', async () => {
    const each =
      'b = bytearray(60_000_000)\\nfor i in range(0, len(b), 4096): b[i] = 1\\nimport time; time.sleep(2)';
    const script = `printf '${each}' > bomb.py; for i in 1 2 3 4 5 6 7 8; do python3 bomb.py & done; wait; exit 1`;
    expect((await run(sandbox, script)).ending).toBe('out_of_memory');
  });

  it('reports that a child was killed for memory and its parent then failed', async (context) => {
    if (limits === 'rlimits') context.skip(needsGroups);
    const end = await run(sandbox, `printf '${greedy}' > bomb.py; python3 bomb.py; exit 3`);
    expect(end).toMatchObject({ ending: 'out_of_memory', exitCode: 3 });
    expect(end.peakMemoryBytes).toBeGreaterThan(200_000_000);
    expect(end.cpuSeconds).toBeGreaterThan(0);
  });

  it('reports the resource use of a command, while it runs and when it has ended', async () => {
    const used =
      'import time\nheld = bytearray(100_000_000)\nfor i in range(0, len(held), 4096): held[i] = 1\n' +
      'while time.process_time() < 1: pass\nprint("burnt", flush=True)\ntime.sleep(1)';
    place.file('workspace/burn.py', used);
    let burnt: () => void = () => {};
    const heard = new Promise<void>((resolve) => {
      burnt = resolve;
    });
    const process = await sandbox.start(['python3', 'burn.py'], {
      ...{ stdin: 'none', timeoutMs: 20_000, signal: null },
      onOutput: () => burnt(),
    });
    await heard;
    const midway = await process.usage();
    const end = await process.ended;
    expect(midway.cpuSeconds).toBeGreaterThan(0.8);
    expect(midway.peakMemoryBytes).toBeGreaterThan(100_000_000);
    expect(end.cpuSeconds).toBeGreaterThanOrEqual(midway.cpuSeconds ?? Number.NaN);
    expect(end.cpuSeconds).toBeLessThan(3);
    expect(await process.usage()).toEqual({
      cpuSeconds: end.cpuSeconds,
      peakMemoryBytes: end.peakMemoryBytes,
    });
  });

  // Root is exempt from the kernel's limit per user: a real bomb would keep the whole machine busy.
  it('survives a fork bomb', async (context) => {
    if (limits === 'rlimits' && process.getuid?.() === 0)
      context.skip('root is exempt from rlimits on processes');
    const end = await run(sandbox, 'bomb() { bomb | bomb & }; bomb; sleep 2; echo over', {
      timeoutMs: 6_000,
    });
    expect(['exited', 'timed_out']).toContain(end.ending);
    expect(await run(sandbox, 'echo well')).toMatchObject({ exitCode: 0, output: 'well\n' });
  });

  it('allows no more processes than the limit', async () => {
    const script = 'i=0; while [ $i -lt 150 ]; do sleep 4 & i=$((i+1)); done; echo all; sleep 4; exit 0';
    const end = await run(sandbox, script);
    expect(end.output.includes('all') && end.ending === 'exited').toBe(false);
  });

  it('ends a command that fills the workspace', async () => {
    const script = 'for i in 1 2 3 4 5 6 7 8; do head -c 60000000 /dev/zero > $i || exit; done; sleep 9';
    expect((await run(sandbox, script)).ending).toBe('workspace_full');
  });

  it('ends a command that fills it with open files that it has removed', async () => {
    const script = `import os, time
files = []
for name in "123456":
    files.append(open(name, "wb")); os.remove(name)
    files[-1].write(b"x" * 60_000_000); files[-1].flush()
time.sleep(9)`;
    place.file('workspace/unlinked.py', script);
    expect((await run(sandbox, 'exec python3 unlinked.py')).ending).toBe('workspace_full');
  });

  it('counts a sparse file by its size', async () => {
    const script = 'truncate -s 60M 1; truncate -s 60M 2; truncate -s 60M 3; sleep 9';
    expect((await run(sandbox, script)).ending).toBe('workspace_full');
  });

  it('reports a command that filled it and ended before the first check', async () => {
    const script = 'truncate -s 60M 1; truncate -s 60M 2; truncate -s 60M 3';
    expect((await run(sandbox, script)).ending).toBe('workspace_full');
  });

  it('lets a command run in a workspace that is too large already, as long as it adds nothing', async () => {
    const fill = 'truncate -s 60M 1; truncate -s 60M 2; truncate -s 60M 3';
    expect((await run(sandbox, fill)).ending).toBe('workspace_full');
    expect((await run(sandbox, 'sleep 0.3; cat data/train.csv')).ending).toBe('exited');
    expect((await run(sandbox, 'truncate -s 60M 4; sleep 9')).ending).toBe('workspace_full');
    expect((await run(sandbox, 'rm 1 2 3')).ending).toBe('exited');
    expect((await run(sandbox, fill)).ending).toBe('workspace_full');
  });

  it('limits the size of a single file, and of the temporary folders', async () => {
    const script = (path: string) => `head -c 90000000 /dev/zero > ${path}; echo code $?; stat -c %s ${path}`;
    const sizeOf = (output: string) => Number(/^\d+$/m.exec(output)?.[0]);
    expect(sizeOf((await run(sandbox, script('big'))).output)).toBeLessThanOrEqual(64 * 2 ** 20);
    expect(sizeOf((await run(sandbox, script('/tmp/big'))).output)).toBeLessThanOrEqual(16 * 2 ** 20);
    expect(sizeOf((await run(sandbox, script('/dev/shm/big'))).output)).toBeLessThanOrEqual(16 * 2 ** 20);
  });

  it('removes its control groups', async (context) => {
    if (limits === 'rlimits' || grouped !== 'cgroup v1')
      context.skip('needs writable control groups of version 1');
    await run(sandbox, '(setsid sleep 100 &); true');
    await sandbox[Symbol.asyncDispose]();
    const path = /^\d+:pids:(.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1] ?? '/';
    const left = readdirSync(join('/sys/fs/cgroup/pids', path)).filter((name) =>
      name.includes(`-${process.pid}-`),
    );
    expect(left).toEqual([]);
  });
});
