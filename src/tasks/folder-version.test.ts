import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { changedFiles, folderVersion } from './folder-version.ts';

const folder = mkdtempSync(join(tmpdir(), 'mlab-version-'));
afterAll(() => rmSync(folder, { recursive: true }));

test('a version changes with names, contents and links, not with times, and which files changed is known', () => {
  mkdirSync(join(folder, 'env'));
  const script = join(folder, 'env/train.py');
  writeFileSync(script, 'EPOCHS = 15\n');
  writeFileSync(join(folder, 'task.yaml'), 'id: t\n');
  symlinkSync('train.py', join(folder, 'env/link'));
  const version = folderVersion(folder);
  utimesSync(script, 1, 1);
  expect(folderVersion(folder)).toBe(version);
  expect(changedFiles(folder, version)).toEqual([]);
  writeFileSync(script, 'EPOCHS = 60\n');
  expect(folderVersion(folder)).not.toBe(version);
  rmSync(join(folder, 'env/link'));
  writeFileSync(join(folder, 'notes'), '');
  expect(changedFiles(folder, version)).toEqual(['env/link', 'env/train.py', 'notes']);
  writeFileSync(script, readFileSync(script, 'utf8').replace('60', '15'));
  symlinkSync('train.py', join(folder, 'env/link'));
  rmSync(join(folder, 'notes'));
  expect(folderVersion(folder)).toBe(version);
  expect(changedFiles(folder, 'never computed')).toEqual([]);
});
