import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { folderSize } from './folder-size.ts';
import { FolderWatch, watchedFolder } from './folder-watch.ts';
import { FrozenProcesses } from './frozen-processes.ts';
import { isStopped } from './process-tree.ts';
import { makePlace, type Place } from './test-support.ts';

const mebibyte = 2 ** 20;
const patience = { timeout: 20_000 };

describe.skipIf(process.platform !== 'linux')('a command that writes to a watched folder', () => {
  let place: Place;
  let children: ChildProcess[];
  const pids = () => children.flatMap(({ pid }) => pid ?? []);

  async function begin(script: string): Promise<ChildProcess> {
    const child = spawn('sh', ['-c', script], { cwd: place.workspace, stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    if (child.stdout !== null) await once(child.stdout, 'data');
    return child;
  }

  beforeEach(() => {
    place = makePlace();
    children = [];
  });
  afterEach(async () => {
    for (const child of children) {
      const gone = once(child, 'exit');
      if (child.kill('SIGKILL')) await gone;
    }
    place[Symbol.dispose]();
  });

  it("is stopped before it has written much more than the folder's limit", async () => {
    const folder = { path: place.workspace, maxBytes: 32 * mebibyte, bytes: 0 };
    const exceeded = new FolderWatch(folder, pids, new AbortController().signal).isExceeded();
    await begin('echo ready; for i in $(seq 200); do head -c 4194304 /dev/zero > $i; done; exec sleep 60');
    expect(await exceeded).toBe(true);
    expect(await folderSize(place.workspace, Number.POSITIVE_INFINITY)).toBeLessThan(128 * mebibyte);
  });

  it('continues when other processes took the space of the file system', async () => {
    const stopping = new AbortController();
    const folder = { path: place.workspace, maxBytes: 16 * mebibyte, bytes: 0 };
    const exceeded = new FolderWatch(folder, pids, stopping.signal).isExceeded();
    const child = await begin('while :; do echo more; sleep 0.01; done');
    for (let number = 0; number < 5; number += 1) {
      writeFileSync(join(place.root, `other-${number}`), Buffer.alloc(16 * mebibyte, 1));
      await sleep(50);
    }
    if (child.stdout !== null) await once(child.stdout, 'data');
    stopping.abort();
    expect(await exceeded).toBe(false);
    expect(pids().map(isStopped)).toEqual([false]);
  });

  it('is measured at its start if the folder had files before the first command', async () => {
    mkdirSync(join(place.workspace, 'old'));
    writeFileSync(join(place.workspace, 'old', 'model'), Buffer.alloc(3 * mebibyte));
    const folder = watchedFolder({ folder: place.workspace, maxBytes: 2 * mebibyte });
    if (folder === null) throw new Error('no folder to watch');
    expect(await new FolderWatch(folder, pids, new AbortController().signal).isExceeded()).toBe(true);
  });

  it('stays stopped if it had stopped itself before it was frozen', async () => {
    const self = await begin('echo ready; kill -STOP $$; exec sleep 60');
    await begin('echo ready; exec sleep 60');
    const stopped = () => pids().map(isStopped);
    await vi.waitUntil(() => isStopped(self.pid ?? 0), patience);
    const frozen = new FrozenProcesses(pids);
    await vi.waitUntil(() => !stopped().includes(false), patience);
    frozen.thaw();
    await vi.waitUntil(() => stopped().includes(false), patience);
    expect(stopped()).toEqual([true, false]);
  });
});
