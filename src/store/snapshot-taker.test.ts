import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { diffSnapshots } from './diff.ts';
import { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { readSnapshot } from './snapshot-file.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

/** Longer than one tick of a file system's clock, like a step of a real run. */
const afterTheTickMs = 60;

/** One change of a workspace, with names from a small set, so that changes affect the same paths. */
const name = fc.constantFrom('a', 'b', 'ü', 'line\nbreak', '.hidden', '-rf', 'é\u0301');
const path = fc.array(name, { minLength: 1, maxLength: 3 });
const change = fc.oneof(
  fc.record({ kind: fc.constant('file' as const), path, content: fc.uint8Array({ maxLength: 3000 }) }),
  fc.record({
    kind: fc.constant('large' as const),
    path,
    content: fc.uint8Array({ minLength: 1, maxLength: 9 }),
  }),
  fc.record({ kind: fc.constant('mode' as const), path, mode: fc.constantFrom(0o644, 0o755, 0o600, 0o400) }),
  fc.record({ kind: fc.constant('folder' as const), path }),
  fc.record({ kind: fc.constant('link' as const), path, target: fc.constantFrom('a', '../..', '/etc', 'ü') }),
  fc.record({ kind: fc.constant('remove' as const), path }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** Impossible changes, such as a file in a file, are skipped. */
function apply(workspace: string, one: Change): void {
  const target = join(workspace, ...one.path);
  try {
    if (one.kind === 'remove') rmSync(target, { recursive: true, force: true });
    else if (one.kind === 'mode') {
      if (lstatSync(target).isFile()) chmodSync(target, one.mode);
    } else {
      mkdirSync(join(target, '..'), { recursive: true });
      if (one.kind === 'folder') mkdirSync(target);
      else if (one.kind === 'link') symlinkSync(one.target, target);
      else if (!lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) {
        writeFileSync(target, one.kind === 'file' ? one.content : Buffer.alloc(200_000, one.content));
      }
    }
  } catch {}
}

/** Everything in a folder, read without the code under test. */
function describe(folder: string, prefix = ''): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const entry of readdirSync(join(folder, prefix), { withFileTypes: true })) {
    const key = join(prefix, entry.name);
    const full = join(folder, key);
    const { mode, mtimeMs } = lstatSync(full);
    if (entry.isSymbolicLink()) found[key] = readlinkSync(full);
    else if (entry.isDirectory()) Object.assign(found, { [key]: 'folder' }, describe(folder, key));
    else found[key] = [readFileSync(full).toString('hex'), mode & 0o777, Math.round(mtimeMs)];
  }
  return found;
}

test('restoring a snapshot gives the same workspace, whatever the folder contained', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const [workspace, copy] = [join(folder.path, 'workspace'), join(folder.path, 'copy')];
  await fc.assert(
    fc.asyncProperty(
      fc.array(change, { maxLength: 12 }),
      fc.array(change, { maxLength: 8 }),
      async (one, other) => {
        for (const each of [workspace, copy]) {
          rmSync(each, { recursive: true, force: true });
          mkdirSync(each);
        }
        for (const each of one) apply(workspace, each);
        for (const each of other) apply(copy, each);
        const { id } = await new SnapshotTaker(objects, workspace).take();
        await restoreSnapshot(objects, id, copy);
        expect(describe(copy)).toEqual(describe(workspace));
        const again = await new SnapshotTaker(objects, copy).take();
        expect(again.id).toBe(id);
        expect(await diffSnapshots(objects, id, again.id)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

test('a snapshotter with state finds the same as a new one, and names the changes', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const workspace = join(folder.path, 'workspace');
  const batches = fc.array(fc.array(change, { maxLength: 5 }), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(batches, async (steps) => {
      rmSync(workspace, { recursive: true, force: true });
      mkdirSync(workspace);
      const snapshotter = new SnapshotTaker(objects, workspace);
      let before = await snapshotter.take();
      for (const step of steps) {
        for (const each of step) apply(workspace, each);
        const after = await snapshotter.take();
        const fresh = await new SnapshotTaker(objects, workspace).take();
        expect(after.id).toBe(fresh.id);
        expect(after.entries).toEqual(fresh.entries);
        expect(readSnapshot(objects, after.id).entries).toEqual(fresh.entries);
        const differences = (await diffSnapshots(objects, before.id, after.id)).map((each) => each.path);
        expect(after.changed).toEqual(differences.sort());
        before = after;
      }
    }),
    { numRuns: 40 },
  );
});

test('an untouched workspace gives the same snapshot, with nothing changed or touched', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  writeFileSync(join(workspace.path, 'train.py'), 'print(1)');
  const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
  const first = await snapshotter.take();
  expect(first.changed).toEqual(['train.py']);
  await setTimeout(afterTheTickMs);
  const second = await snapshotter.take();
  expect(second).toEqual({ ...first, changed: [], touched: [] });
  expect(second.entries).toBe(first.entries);
});

test('a file that is written again with the same content is touched, not changed', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const file = join(workspace.path, 'submission.csv');
  writeFileSync(file, 'id,target\n');
  const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
  await snapshotter.take();
  await setTimeout(afterTheTickMs);
  writeFileSync(file, 'id,target\n');
  expect(await snapshotter.take()).toMatchObject({ changed: [], touched: ['submission.csv'] });
});

test('a change that keeps size and time is found', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const file = join(workspace.path, 'a.txt');
  writeFileSync(file, 'one');
  const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
  for (const [index, content] of ['two', 'six', 'ten', 'cat'].entries()) {
    await snapshotter.take();
    if (index === 2) await setTimeout(afterTheTickMs);
    const { atime, mtime } = lstatSync(file);
    writeFileSync(file, content);
    utimesSync(file, atime, mtime);
    expect((await snapshotter.take()).changed).toEqual(['a.txt']);
  }
});

test('a change within one tick of the clock is found, a hundred times', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const objects = new ObjectStore(store.path);
  const snapshotter = new SnapshotTaker(objects, workspace.path);
  for (let round = 0; round < 100; round++) {
    writeFileSync(join(workspace.path, 'a.txt'), String(1000 + round));
    const { id } = await snapshotter.take();
    const [entry] = readSnapshot(objects, id).entries;
    expect(entry && 'object' in entry && objects.getText(entry.object)).toBe(String(1000 + round));
  }
});

test('a full snapshot reads every file again', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  writeFileSync(join(workspace.path, 'a.txt'), 'a');
  const objects = new ObjectStore(store.path);
  const snapshotter = new SnapshotTaker(objects, workspace.path);
  const first = await snapshotter.take();
  await setTimeout(afterTheTickMs);
  await snapshotter.take();
  expect(await snapshotter.take({ full: true })).toEqual({ ...first, changed: [] });
});

test('ignored names are neither recorded nor removed', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  for (const name of ['data', 'src']) mkdirSync(join(workspace.path, name));
  for (const name of ['data/big', 'src/data']) writeFileSync(join(workspace.path, name), name);
  const objects = new ObjectStore(store.path);
  const { id, entries } = await new SnapshotTaker(objects, workspace.path).take({ ignore: ['data'] });
  expect(entries.map((entry) => entry.path)).toEqual(['src', 'src/data']);
  rmSync(join(workspace.path, 'src'), { recursive: true });
  await restoreSnapshot(objects, id, workspace.path, { ignore: ['data'] });
  expect(readdirSync(workspace.path)).toEqual(['data', 'src']);
  expect(readFileSync(join(workspace.path, 'data/big'), 'utf8')).toBe('data/big');
});

test('an aborted snapshot does not spoil the next one', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  for (const name of ['a', 'b', 'c'])
    writeFileSync(join(workspace.path, name), Buffer.alloc(3_000_000, name));
  const snapshotter = new SnapshotTaker(new ObjectStore(store.path), workspace.path);
  const controller = new AbortController();
  const taken = snapshotter.take({ signal: controller.signal });
  await expect(snapshotter.take()).rejects.toThrow('being taken already');
  controller.abort();
  await expect(taken).rejects.toThrow();
  renameSync(join(workspace.path, 'a'), join(workspace.path, 'd'));
  expect((await snapshotter.take()).entries.map((entry) => entry.path)).toEqual(['b', 'c', 'd']);
});

test.each([
  ['a path that leaves the folder', [{ path: '../evil', link: 'x' }]],
  ['an absolute path', [{ path: '/tmp/evil', link: 'x' }]],
  ['an empty name', [{ path: 'a//b', link: 'x' }]],
  [
    'a path through a link',
    [
      { path: 'a', link: '/etc' },
      { path: 'a/b', link: 'x' },
    ],
  ],
  ['a path in a folder that is not listed', [{ path: 'a/b', link: 'x' }]],
  [
    'a path that occurs twice',
    [
      { path: 'a', link: 'x' },
      { path: 'a', folder: true },
    ],
  ],
  ['a name with a zero byte', [{ path: 'a\0b', link: 'x' }]],
  ['two texts for the same bytes', [{ path: '\udcc3\udca9', link: 'x' }]],
])('a forged snapshot with %s is refused', async (_, entries) => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const id = objects.putText(JSON.stringify({ v: 1, entries }));
  await expect(restoreSnapshot(objects, id, join(folder.path, 'target'))).rejects.toThrow('not made by mlab');
  expect(readdirSync(folder.path)).toEqual(['objects']);
});
