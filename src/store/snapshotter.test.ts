import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { readSnapshot, storeSnapshot } from './snapshot-file.ts';
import { SnapshotTaker } from './snapshot-taker.ts';
import { Snapshotter } from './snapshotter.ts';

/** More than the main thread walks itself. */
function fill(workspace: string, files: number): void {
  for (let number = 0; number < files; number++) {
    const folder = join(workspace, `part-${number % 7}`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, `${number}.txt`), `file ${number} `.repeat(20));
  }
}

test('a workspace that becomes large is handed to a thread, and its snapshots stay correct', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const objects = new ObjectStore(store.path);
  using snapshotter = new Snapshotter(objects, workspace.path);
  writeFileSync(join(workspace.path, 'first.csv'), 'a,b\n');
  const options = { first: ['first.csv', 'none.csv'] };
  const before = await snapshotter.take(options);
  expect(before).toMatchObject({ changed: ['first.csv'], first: [{ isWritten: true }, { entry: null }] });

  fill(workspace.path, 300);
  const large = await snapshotter.take(options);
  expect(large).toMatchObject({ changedCount: 307, first: [{ isWritten: false }, { isWritten: false }] });
  expect(large.changed).toHaveLength(100);
  expect(objects.writtenBytes).toBeGreaterThan(20_000);

  appendFileSync(join(workspace.path, 'first.csv'), '1,2\n');
  rmSync(join(workspace.path, 'part-3/3.txt'));
  renameSync(join(workspace.path, 'part-0'), join(workspace.path, '\u00e9-part'));
  const after = await snapshotter.take(options);
  // The folder with its 43 files was removed and restored.
  expect(after.changedCount).toBe(2 + 2 * 44);
  expect(after.first[0]).toMatchObject({ path: 'first.csv', isWritten: true });
  const fresh = await new SnapshotTaker(objects, workspace.path).take();
  expect(after.id).toBe(fresh.id);
  expect(after.bytes).toBe(fresh.bytes);
});

test('an error in a thread is thrown by the caller, and an aborted snapshot is complete the next time', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  fill(workspace.path, 500);
  const objects = new ObjectStore(store.path);
  using snapshotter = new Snapshotter(objects, workspace.path);
  const controller = new AbortController();
  const taken = snapshotter.take({ signal: controller.signal });
  await setTimeout(1);
  controller.abort(new Error('enough'));
  await expect(taken).rejects.toThrow('enough');
  const fresh = await new SnapshotTaker(objects, workspace.path).take();
  expect((await snapshotter.take()).id).toBe(fresh.id);
  rmSync(workspace.path, { recursive: true });
  await expect(snapshotter.take()).rejects.toMatchObject({ code: 'ENOENT' });
  mkdirSync(workspace.path);
  const unknown = objects.putText('no snapshot');
  await expect(snapshotter.restore(unknown, {})).rejects.toMatchObject({
    name: 'UserError',
    code: 'broken_file',
  });
});

test.each([5, 600])(
  'a workspace of %i files is restored from the one that it is forked from, and its files are not read again',
  async (files) => {
    using parent = temporaryFolder();
    using child = temporaryFolder();
    using store = temporaryFolder();
    fill(parent.path, files);
    const objects = new ObjectStore(store.path);
    using parentSnapshotter = new Snapshotter(objects, parent.path);
    // So long ago that a later write would show in their times.
    execFileSync('sleep', ['0.1']);
    const { id } = await parentSnapshotter.take();
    // Unchanged contents are copied, and of the store only the list is needed. Changed contents come from the store.
    const changed = readSnapshot(objects, id).entries.find((entry) => 'object' in entry);
    const kept = changed !== undefined && 'object' in changed ? changed.object : '';
    for (const entry of readSnapshot(objects, id).entries)
      if ('object' in entry && entry.object !== kept) forget(store.path, entry.object);
    writeFileSync(join(parent.path, changed?.path ?? ''), 'changed since');
    writeFileSync(join(child.path, 'left over'), '');

    using snapshotter = new Snapshotter(objects, child.path);
    await snapshotter.restore(id, { from: parentSnapshotter });
    expect(snapshotter.bytes).toBe(parentSnapshotter.bytes);
    const restored = await snapshotter.take();
    expect(restored).toMatchObject({ id, changed: [] });
    expect(readFileSync(join(child.path, 'part-1/1.txt'), 'utf8')).toBe('file 1 '.repeat(20));
    expect(readFileSync(join(child.path, changed?.path ?? ''), 'utf8')).toContain('file ');
    expect(statSync(join(child.path, 'part-1/1.txt')).nlink).toBe(1);

    chmodSync(join(child.path, 'part-2/2.txt'), 0o755);
    writeFileSync(join(child.path, 'part-1/1.txt'), 'another');
    expect((await snapshotter.take()).changed).toEqual(['part-1/1.txt', 'part-2/2.txt']);
  },
);

test.each([10, 500_000])(
  'what is written right after files of %i bytes were restored is noticed, even if their times are set back',
  async (bytes) => {
    using parent = temporaryFolder();
    using child = temporaryFolder();
    using store = temporaryFolder();
    const names = Array.from({ length: 64 }, (_, number) => `${number}.bin`);
    for (const name of names) writeFileSync(join(parent.path, name), randomBytes(bytes));
    symlinkSync('0.bin', join(parent.path, 'link'));
    const objects = new ObjectStore(store.path);
    using original = new Snapshotter(objects, parent.path);
    const { id } = await original.take();
    using snapshotter = new Snapshotter(objects, child.path);
    await snapshotter.restore(id, { from: original });
    for (const name of names.toReversed()) {
      const { atime, mtime } = statSync(join(child.path, name));
      writeFileSync(join(child.path, name), randomBytes(bytes));
      utimesSync(join(child.path, name), atime, mtime);
    }
    expect((await snapshotter.take()).changed).toEqual(names.toSorted());
  },
);

test('sparse files of any size are sparse in a workspace that is forked from theirs', async () => {
  using parent = temporaryFolder();
  using child = temporaryFolder();
  using store = temporaryFolder();
  const sizes = { small: 60_000, middle: 1_000_000, large: 20_000_000 };
  for (const [name, size] of Object.entries(sizes)) {
    writeFileSync(join(parent.path, name), 'head');
    truncateSync(join(parent.path, name), size);
  }
  const objects = new ObjectStore(store.path);
  using original = new Snapshotter(objects, parent.path);
  execFileSync('sleep', ['0.1']);
  const { id } = await original.take();
  using snapshotter = new Snapshotter(objects, child.path);
  await snapshotter.restore(id, { from: original });
  expect((await snapshotter.take()).id).toBe(id);
  for (const name of Object.keys(sizes)) expect(statSync(join(child.path, name)).blocks).toBeLessThan(100);
});

test('a file that changes while it is copied to a fork is as its snapshot there', async () => {
  using parent = temporaryFolder();
  using child = temporaryFolder();
  using store = temporaryFolder();
  const bytes = 100_000_000;
  const path = join(parent.path, 'weights.bin');
  const content = Buffer.concat([Buffer.alloc(bytes / 2, 'x'), Buffer.alloc(bytes / 2)]);
  writeFileSync(path, content);
  const objects = new ObjectStore(store.path);
  using original = new Snapshotter(objects, parent.path);
  await setTimeout(100);
  const { id } = await original.take();
  using snapshotter = new Snapshotter(objects, child.path);
  const restored = snapshotter.restore(id, { from: original });
  while (sizeOf(join(child.path, 'weights.bin')) === 0) await setTimeout(1);
  const changed = openSync(path, 'r+');
  writeSync(changed, 'changed', bytes - 7);
  closeSync(changed);
  await restored;
  expect(readFileSync(join(child.path, 'weights.bin')).equals(content)).toBe(true);
});

test('a forged time of a file is replaced by the latest possible one', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const objects = new ObjectStore(store.path);
  const entry = { path: 'a.txt', object: objects.putText('text'), size: 4, mode: 0o644, mtime: 1e300 };
  await restoreSnapshot(objects, storeSnapshot(objects, [entry]), workspace.path);
  expect(readFileSync(join(workspace.path, 'a.txt'), 'utf8')).toBe('text');
  expect(statSync(join(workspace.path, 'a.txt')).mtimeMs).toBeGreaterThan(Date.now());
});

function forget(store: string, object: string): void {
  const path = join(store, object.slice(0, 2), object.slice(2));
  for (const suffix of ['', '.zst']) rmSync(path + suffix, { force: true });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
