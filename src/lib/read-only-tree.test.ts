import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDeepFolder } from '../../test/fixtures/deep-folder.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { makeReadOnly, removeTree, removeTreeSlowly } from './read-only-tree.ts';

test('a folder is deleted whatever its depth, its names and its permissions', () => {
  const folder = temporaryFolder();
  const tree = join(folder, 'tree');
  mkdirSync(join(tree, 'closed/inner'), { recursive: true });
  writeFileSync(join(tree, 'closed/inner/file'), '');
  writeFileSync(Buffer.from(`${tree}/caf\xe9`, 'latin1'), '');
  mkdirSync(Buffer.from(`${tree}/\xff`, 'latin1'));
  writeFileSync(Buffer.from(`${tree}/\xff/\xfe`, 'latin1'), '');
  chmodSync(join(tree, 'closed/inner'), 0);
  chmodSync(join(tree, 'closed'), 0);
  if (process.platform === 'linux') makeDeepFolder(tree, { levels: 3_000, nameBytes: 255, content: 1 });
  removeTree(tree);
  expect(readdirSync(folder)).toEqual([]);
});

test('a read-only tree is deleted, and what its links lead to is not', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'kept'));
  writeFileSync(join(folder, 'kept/file'), '');
  mkdirSync(join(folder, 'tree/inner'), { recursive: true });
  symlinkSync('../../kept', join(folder, 'tree/inner/link'));
  makeReadOnly(join(folder, 'tree'));
  removeTree(join(folder, 'tree'));
  removeTree(join(folder, 'tree'));
  removeTree(join(folder, 'gone/tree'));
  expect(existsSync(join(folder, 'tree'))).toBe(false);
  expect(existsSync(join(folder, 'kept/file'))).toBe(true);
});

test('deleting a large folder slowly stops soon after its signal', async () => {
  const folder = temporaryFolder();
  const tree = join(folder, 'tree');
  mkdirSync(tree);
  for (let number = 0; number < 5_000; number += 1) writeFileSync(join(tree, String(number)), '');
  const stop = new AbortController();
  setTimeout(() => stop.abort(), 1);
  await expect(removeTreeSlowly(tree, stop.signal)).rejects.toThrow('abort');
  expect(readdirSync(tree).length).toBeGreaterThan(0);
  await removeTreeSlowly(tree);
  expect(existsSync(tree)).toBe(false);
});
