import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { linkSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDeepFolder } from '../../test/fixtures/deep-folder.ts';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { diffSnapshots } from './diff.ts';
import { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

const onLinux = process.platform === 'linux';

test.skipIf(!onLinux)(
  'a file under a lease is skipped at once, and kept when the lease is gone',
  async () => {
    using workspace = temporaryFolder();
    using store = temporaryFolder();
    writeFileSync(join(workspace.path, 'leased'), 'content');
    writeFileSync(join(workspace.path, 'other'), 'content');
    const holder = spawn('python3', [
      '-c',
      `import fcntl, os, signal, sys
signal.signal(signal.SIGIO, signal.SIG_IGN)
file = os.open(sys.argv[1], os.O_RDWR)
fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print('held', flush=True)
sys.stdin.read()`,
      join(workspace.path, 'leased'),
    ]);
    await once(holder.stdout, 'data');
    const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
    const start = performance.now();
    const first = await snapshotter.take();
    expect(performance.now() - start).toBeLessThan(20_000);
    expect(first.skipped).toEqual([{ path: 'leased', reason: 'unstable' }]);
    expect(first.entries.map(({ path }) => path)).toEqual(['other']);
    holder.kill('SIGKILL');
    await once(holder, 'exit');
    const second = await snapshotter.take({ full: true });
    expect(second.skipped).toEqual([]);
    expect(second.changed).toEqual(['leased']);
  },
);

test('files beyond the size limit are skipped; sparse files and hard links count in full, and files with priority come first', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const at = (name: string) => join(workspace.path, name);
  writeFileSync(at('sparse'), '');
  truncateSync(at('sparse'), 2 ** 40);
  writeFileSync(at('submission.csv'), Buffer.alloc(600_000, 1));
  for (const name of ['a', 'b']) writeFileSync(at(name), Buffer.alloc(300_000, name));
  linkSync(at('a'), at('c'));
  writeFileSync(at('small'), 'small');
  const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
  const options = { maxBytes: 1_000_000, first: ['submission.csv'] };
  const { bytes, skipped, entries } = await snapshotter.take(options);
  expect(bytes).toBeLessThanOrEqual(1_000_000);
  expect(skipped).toHaveLength(3);
  expect(skipped).toContainEqual({ path: 'sparse', reason: 'too_large' });
  expect(entries.map(({ path }) => path)).toEqual(expect.arrayContaining(['small', 'submission.csv']));
  truncateSync(at('sparse'), 0);
  const after = await snapshotter.take(options);
  expect(after.skipped).toHaveLength(2);
  expect(after.changed).toEqual(['sparse']);
});

test('taking, restoring and comparing snapshots of many or large files stops soon after the signal', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const objects = new ObjectStore(store.path);
  const empty = await new SnapshotTaker(objects, workspace.path).take();
  mkdirSync(join(workspace.path, 'many'));
  for (let number = 0; number < 4_000; number += 1)
    writeFileSync(join(workspace.path, 'many', String(number)), `line ${number}\n`);
  const whole = await new SnapshotTaker(objects, workspace.path).take();
  writeFileSync(join(workspace.path, 'sparse'), '');
  truncateSync(join(workspace.path, 'sparse'), 2 ** 40);
  const restored = join(store.path, 'restored');
  const works = [
    (signal: AbortSignal) => new SnapshotTaker(objects, workspace.path).take({ signal }),
    (signal: AbortSignal) => restoreSnapshot(objects, whole.id, restored, { signal }),
    (signal: AbortSignal) => diffSnapshots(objects, empty.id, whole.id, signal),
  ];
  for (const work of works) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), 50);
    const start = performance.now();
    await expect(work(stop.signal)).rejects.toThrow('abort');
    expect(performance.now() - start).toBeLessThan(20_000);
    clearTimeout(timer);
  }
});

test.skipIf(!onLinux)('a folder of any depth is removed when a snapshot is restored', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const objects = new ObjectStore(store.path);
  mkdirSync(join(workspace.path, 'kept'));
  writeFileSync(join(workspace.path, 'kept/file'), 'content');
  const { id } = await new SnapshotTaker(objects, workspace.path).take();
  for (const folder of ['', 'kept']) {
    makeDeepFolder(join(workspace.path, folder), { levels: 3_000, nameBytes: 255 });
  }
  const deep = await new SnapshotTaker(objects, workspace.path).take();
  expect(deep.skipped.map(({ reason }) => reason)).toEqual(['too_deep', 'too_deep']);
  await restoreSnapshot(objects, id, workspace.path);
  expect(readdirSync(workspace.path, { recursive: true })).toEqual(['kept', 'kept/file']);
});
