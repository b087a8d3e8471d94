import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

const onLinux = process.platform === 'linux';

test('FIFOs, sockets and links neither block nor lead out of the workspace', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const at = (name: string) => join(workspace.path, name);
  execFileSync('mkfifo', [at('fifo')]);
  const server = createServer().listen(at('socket'));
  await once(server, 'listening');
  symlinkSync('/etc', at('etc'));
  symlinkSync('loop', at('loop'));
  symlinkSync('..', at('up'));
  mkdirSync(at('inner'));
  symlinkSync('../inner', at('inner/self'));
  const objects = new ObjectStore(store.path);
  const { id, entries, skipped } = await new SnapshotTaker(objects, workspace.path).take();
  server.close();
  expect(skipped).toEqual([
    { path: 'fifo', reason: 'pipe' },
    { path: 'socket', reason: 'socket' },
  ]);
  expect(entries).toEqual([
    { path: 'etc', link: '/etc' },
    { path: 'inner', folder: true },
    { path: 'inner/self', link: '../inner' },
    { path: 'loop', link: 'loop' },
    { path: 'up', link: '..' },
  ]);
  await restoreSnapshot(objects, id, workspace.path);
  expect(readdirSync(workspace.path)).toEqual(['etc', 'inner', 'loop', 'up']);
});

test.skipIf(!onLinux)('names of any bytes and deep folders are restored', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const names = ['caf\xe9', '\xff\xfe', 'new\nline', '\xc3\xa9', '\xf0\x9f\x98\x80', '\xed\xb2\x80'];
  for (const name of names) {
    writeFileSync(Buffer.concat([Buffer.from(`${workspace.path}/`), Buffer.from(name, 'latin1')]), name);
  }
  let deep = workspace.path;
  for (let level = 0; level < 200; level++) deep = join(deep, 'd');
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, 'bottom'), 'here');
  const objects = new ObjectStore(store.path);
  const { id, skipped } = await new SnapshotTaker(objects, workspace.path).take();
  expect(skipped).toEqual([]);
  using copy = temporaryFolder();
  await restoreSnapshot(objects, id, copy.path);
  const list = (path: string) => readdirSync(path, { encoding: 'latin1' }).sort();
  expect(list(copy.path)).toEqual(list(workspace.path));
  expect(readFileSync(deep.replace(workspace.path, copy.path).concat('/bottom'), 'utf8')).toBe('here');
  expect((await new SnapshotTaker(objects, copy.path).take()).id).toBe(id);
});

test.skipIf(!onLinux)(
  'a tree deeper than the longest path is cut off, reported, and can be removed',
  async () => {
    using workspace = temporaryFolder();
    using store = temporaryFolder();
    // 1,500 levels of ten characters: the whole path is longer than the system accepts.
    execFileSync('python3', [
      '-c',
      'import os, sys\nos.chdir(sys.argv[1])\nfor level in range(1500):\n os.mkdir("deepfolder"); os.chdir("deepfolder")',
      workspace.path,
    ]);
    const objects = new ObjectStore(store.path);
    const { id, entries, skipped } = await new SnapshotTaker(objects, workspace.path).take();
    expect(entries).toHaveLength(401);
    expect(skipped.map((each) => each.reason)).toEqual(['too_deep']);
    using copy = temporaryFolder();
    await restoreSnapshot(objects, id, copy.path);
    const empty = objects.putText('{"v":1,"entries":[]}');
    for (const { path } of [workspace, copy]) {
      await restoreSnapshot(objects, empty, path);
      expect(readdirSync(path)).toEqual([]);
    }
  },
);

test('more entries than the limit are reported, and the walk ends there', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  for (let number = 0; number < 30; number++) writeFileSync(join(workspace.path, `${number}`), '');
  const taken = await new SnapshotTaker(new ObjectStore(store.path), workspace.path).take({ maxEntries: 10 });
  expect(taken.entries).toHaveLength(10);
  expect(taken.skipped.map((each) => each.reason)).toEqual(['too_many']);
});

test('a sparse file takes no space, neither as an object nor restored', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const sparse = join(workspace.path, 'sparse');
  writeFileSync(sparse, 'head');
  truncateSync(sparse, 200_000_000);
  const objects = new ObjectStore(store.path);
  const { id, bytes } = await new SnapshotTaker(objects, workspace.path).take();
  expect(bytes).toBe(200_000_000);
  await restoreSnapshot(objects, id, workspace.path);
  const state = statSync(sparse);
  expect([state.size, state.blocks * 512 < 1_000_000]).toEqual([200_000_000, true]);
  expect(readFileSync(sparse).subarray(0, 4).toString()).toBe('head');
});

test('unreadable files are reported, and the others are stored', (context) => {
  using folder = temporaryFolder();
  chmodSync(folder.path, 0o777);
  const script = join(import.meta.dirname, '../../test/fixtures/store/closed-entries.ts');
  // Root may read everything, so root runs it as nobody.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const options = { ...user, cwd: '/' };
  const seen = spawnSync(
    process.execPath,
    ['-e', `require('fs').readFileSync(${JSON.stringify(script)})`],
    options,
  );
  if (seen.status !== 0) context.skip('nobody may read this checkout');
  const output = execFileSync(process.execPath, [script, folder.path], options);
  expect(JSON.parse(output.toString())).toEqual({
    entries: ['closed', 'open.txt'],
    skipped: ['closed:unreadable', 'secret.txt:unreadable'],
  });
});

test.skipIf(!onLinux)('a folder that is swapped for a link while it is open is still read itself', () => {
  using folder = temporaryFolder();
  const inner = join(folder.path, 'inner');
  mkdirSync(inner);
  writeFileSync(join(inner, 'mine'), 'mine');
  using root = FolderHandle.open(folder.path);
  using opened = root.openFolder('inner');
  renameSync(inner, join(folder.path, 'moved'));
  symlinkSync('/etc', inner);
  expect(opened.names()).toEqual(['mine']);
  expect(() => root.openFolder('inner')).toThrow(/ENOTDIR|ELOOP/);
  expect(() => root.openFile('inner')).toThrow('ELOOP');
});

test.skipIf(!onLinux)(
  'files and folders that are swapped for links all the time never leak what is outside',
  async () => {
    using outside = temporaryFolder();
    using workspace = temporaryFolder();
    using store = temporaryFolder();
    mkdirSync(join(outside.path, 'folder'));
    for (const name of ['file', 'folder/inner'])
      writeFileSync(join(outside.path, name), 'secret of the host');
    const swapper = join(import.meta.dirname, '../../test/fixtures/store/swapper.py');
    const hostile = spawn('python3', [swapper, workspace.path, outside.path], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      await once(hostile.stdout, 'data');
      const objects = new ObjectStore(store.path);
      const snapshotter = new SnapshotTaker(objects, workspace.path);
      for (let round = 0; round < 400; round++) {
        const { entries } = await snapshotter.take({ full: round % 2 === 0 });
        for (const entry of entries) {
          if ('object' in entry) expect(objects.getText(entry.object, 1e6)).not.toContain('secret');
          expect(entry.path).toMatch(/^(file|large|folder|folder\/inner)(\.other)?$|^folder\.other\/inner$/);
        }
      }
    } finally {
      hostile.kill('SIGKILL');
      await once(hostile, 'exit');
    }
  },
);

test('a file that grows while it is read is stored as it was read', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const log = join(workspace.path, 'log');
  writeFileSync(log, '');
  const writer = spawn('sh', ['-c', `while :; do echo 0123456789 >> "${log}"; done`]);
  try {
    while (lstatSync(log).size === 0) await setTimeout(5);
    const objects = new ObjectStore(store.path);
    const snapshotter = new SnapshotTaker(objects, workspace.path);
    for (let round = 0; round < 30; round++) {
      const [entry] = (await snapshotter.take()).entries;
      if (!entry || !('object' in entry)) throw new Error('the log is a file');
      const content = objects.get(entry.object);
      expect(content.length).toBe(entry.size);
      expect('0123456789\n'.repeat(content.length / 11 + 1).startsWith(content.toString())).toBe(true);
    }
  } finally {
    writer.kill('SIGKILL');
    await once(writer, 'exit');
  }
});
