import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { diffSnapshots, unifiedDiff } from './diff.ts';
import { ObjectStore } from './object-store.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

test('every kind of change is distinguished', async () => {
  using workspace = temporaryFolder();
  using store = temporaryFolder();
  const at = (name: string) => join(workspace.path, name);
  writeFileSync(at('train.py'), 'import a\nlr = 0.1\nrun()\n');
  for (const name of ['gone.txt', 'same.txt', 'script.sh', 'becomes-link'])
    writeFileSync(at(name), `${name}\n`);
  writeFileSync(at('model.bin'), Buffer.of(0, 1, 2));
  writeFileSync(at('huge.csv'), 'a\n'.repeat(600_000));
  symlinkSync('old', at('link'));
  const objects = new ObjectStore(store.path);
  const snapshotter = new SnapshotTaker(objects, workspace.path);
  const before = await snapshotter.take();
  writeFileSync(at('train.py'), 'import a\nlr = 0.2\nrun()\n');
  writeFileSync(at('same.txt'), 'same.txt\n');
  writeFileSync(at('new\nname.txt'), 'hello');
  writeFileSync(at('model.bin'), Buffer.of(0, 1, 3));
  writeFileSync(at('huge.csv'), 'b\n'.repeat(600_000));
  for (const name of ['gone.txt', 'link', 'becomes-link']) rmSync(at(name));
  symlinkSync('new', at('link'));
  symlinkSync('new', at('becomes-link'));
  chmodSync(at('script.sh'), 0o755);
  mkdirSync(at('empty'));
  const after = await snapshotter.take();
  const differences = await diffSnapshots(objects, before.id, after.id);
  expect(differences.map((each) => [each.path, each.kind, each.as])).toEqual([
    ['becomes-link', 'modified', 'kind'],
    ['empty', 'added', 'folder'],
    ['gone.txt', 'removed', 'text'],
    ['huge.csv', 'modified', 'too_large'],
    ['link', 'modified', 'link'],
    ['model.bin', 'modified', 'binary'],
    ['new\nname.txt', 'added', 'text'],
    ['script.sh', 'modified', 'mode'],
    ['train.py', 'modified', 'text'],
  ]);
  const patches = differences.flatMap((each) => (each.as === 'text' ? [each.patch] : []));
  expect(patches).toEqual([
    '--- gone.txt\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone.txt\n',
    '--- /dev/null\n+++ "new\\nname.txt"\n@@ -0,0 +1,1 @@\n+hello\n\\ No newline at end of file\n',
    '--- train.py\n+++ train.py\n@@ -1,3 +1,3 @@\n import a\n-lr = 0.1\n+lr = 0.2\n run()\n',
  ]);
});

test('two long texts without a common line are not compared for minutes', () => {
  const lines = (word: string) =>
    Array.from({ length: 60_000 }, (_, line) => `${word} ${line * 7}\n`).join('');
  expect(unifiedDiff(lines('one'), lines('two'), { before: 'a', after: 'b' })).toBeNull();
});
