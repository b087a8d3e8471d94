import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSandbox } from './create-sandbox.ts';
import { makePlace, obstacleTo, run } from './test-support.ts';
import { mountsWithoutOthers, openWorkspaceVolume } from './workspace-volume.ts';

const mebibyte = 2 ** 20;

function isMounted(folder: string): boolean {
  return readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${folder} `);
}

async function untilUnmounted(folder: string): Promise<void> {
  for (const end = Date.now() + 10_000; isMounted(folder) && Date.now() < end; ) await sleep(20);
}

/** A process that mounts a volume there, says so, and waits. */
function startHarness(folder: string): ChildProcessByStdio<null, Readable, null> {
  const source = join(import.meta.dirname, 'workspace-volume.ts');
  const program = `const { openWorkspaceVolume } = await import(${JSON.stringify(source)});
    await openWorkspaceVolume(${JSON.stringify(folder)}, ${mebibyte});
    console.log('mounted');
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

test('as root a workspace is a file system of its size, which leaves nothing behind', async (context) => {
  using place = makePlace();
  const volume = await openWorkspaceVolume(place.workspace, 64 * mebibyte);
  if (volume.holder === 'watchdog') context.skip(String(volume.reason));
  expect(statSync(place.workspace).dev).not.toBe(statSync(place.root).dev);
  expect(readdirSync(place.workspace)).toEqual([]);
  const options = readFileSync('/proc/self/mountinfo', 'utf8').split('\n');
  expect(options.find((line) => line.includes(` ${place.workspace} `))).toMatch(/nosuid,nodev/);
  const { bavail, bsize } = statfsSync(place.workspace);
  expect(bavail * bsize).toBeGreaterThanOrEqual(64 * mebibyte);
  expect(bavail * bsize).toBeLessThan(112 * mebibyte);
  const hidden = Buffer.from(`${place.workspace}/\xff`, 'latin1');
  expect(() => writeFileSync(hidden, Buffer.alloc(128 * mebibyte, 1))).toThrow('ENOSPC');
  await volume[Symbol.asyncDispose]();
  expect(isMounted(place.workspace)).toBe(false);
  expect(readdirSync(place.workspace)).toEqual([]);
  expect(readdirSync(place.root).filter((name) => name.startsWith('mlab-'))).toEqual([]);
});

test('it is unmounted when the harness is killed, or by the next harness if the unmounting process was killed too', async (context) => {
  using place = makePlace();
  const probe = await openWorkspaceVolume(place.workspace, mebibyte);
  await probe[Symbol.asyncDispose]();
  if (probe.holder === 'watchdog') context.skip(String(probe.reason));
  const start = async (folder = place.workspace) => {
    const child = startHarness(folder);
    await once(child.stdout, 'data');
    expect(isMounted(folder)).toBe(true);
    return child;
  };
  const harness = await start();
  harness.kill('SIGKILL');
  await untilUnmounted(place.workspace);
  expect(isMounted(place.workspace)).toBe(false);

  const second = await start();
  const children = readFileSync(`/proc/${second.pid}/task/${second.pid}/children`, 'utf8').trim();
  for (const keeper of children.split(' ')) process.kill(Number(keeper), 'SIGKILL');
  second.kill('SIGKILL');
  await sleep(100);
  expect(isMounted(place.workspace)).toBe(true);
  const other = join(place.root, 'other');
  const third = await start(other);
  expect(isMounted(place.workspace)).toBe(false);
  third.kill('SIGKILL');
  await untilUnmounted(other);
  expect(existsSync(place.workspace)).toBe(true);
});

test('a harness that is killed as soon as there is an image leaves none', async (context) => {
  using place = makePlace();
  const probe = await openWorkspaceVolume(place.workspace, mebibyte);
  await probe[Symbol.asyncDispose]();
  if (probe.holder === 'watchdog') context.skip(String(probe.reason));
  const images = () => readdirSync(place.root).filter((name) => name.endsWith('-workspace'));
  for (let round = 0; round < 3; round++) {
    const harness = startHarness(place.workspace);
    const hasDied = once(harness, 'exit');
    // An image has a name for a few milliseconds only.
    const isThere = () => images().length > 0 || isMounted(place.workspace);
    for (const end = Date.now() + 10_000; !isThere() && Date.now() < end; ) await nextTurn();
    harness.kill('SIGKILL');
    await hasDied;
    for (const end = Date.now() + 10_000; images().length > 0 && Date.now() < end; ) await sleep(20);
    expect(images()).toEqual([]);
    await untilUnmounted(place.workspace);
    expect(isMounted(place.workspace)).toBe(false);
  }
});

test('a sandbox is made where only its own volume is mounted, and shows that', async (context) => {
  using place = makePlace();
  using other = makePlace();
  const obstacle = await obstacleTo('bubblewrap');
  await using volume = await openWorkspaceVolume(place.workspace, 64 * mebibyte);
  if (volume.holder === 'watchdog' || obstacle !== null) context.skip(String(volume.reason ?? obstacle));
  expect(await mountsWithoutOthers([place.workspace])).toBeNull();
  await using second = await openWorkspaceVolume(other.workspace, 64 * mebibyte);
  expect(second.holder).toBe('kernel');
  const shownWith = async (...sources: string[]): Promise<boolean[]> => {
    using view = await mountsWithoutOthers(sources);
    const argv = [`--mount=${view?.path}`, 'cat', '/proc/self/mountinfo'];
    const mounts = execFileSync('nsenter', argv, { encoding: 'utf8' });
    return [place, other].map(({ workspace }) => mounts.includes(` ${workspace} `));
  };
  expect(await shownWith(place.data, place.workspace)).toEqual([true, false]);
  expect(await shownWith(place.root)).toEqual([true, false]);
  expect(await shownWith(place.data)).toEqual([false, false]);
  expect([place, other].map(({ workspace }) => isMounted(workspace))).toEqual([true, true]);
  for (const { workspace, spec } of [place, other]) {
    await using sandbox = await createSandbox('bubblewrap', spec());
    const { output } = await run(sandbox, 'echo kept > file; cat data/train.csv');
    expect(output).toBe('id,label\n1,0\n');
    expect(readFileSync(join(workspace, 'file'), 'utf8')).toBe('kept\n');
  }
});
