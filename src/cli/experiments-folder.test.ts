import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { checkExperimentsFolder, makeExperimentsFolder } from './experiments-folder.ts';

const place = mkdtempSync(join(tmpdir(), 'mlab-experiments-'));
afterAll(() => rmSync(place, { recursive: true }));

test('a folder for experiments is made with those above it, and checked without being made', () => {
  const folder = join(place, 'a', 'b');
  expect(checkExperimentsFolder(folder)).toMatchObject({
    name: 'Experiments',
    detail: expect.stringMatching(/^[\d.]+ GiB free for /),
  });
  expect(readdirSync(place)).toEqual([]);
  makeExperimentsFolder(folder);
  makeExperimentsFolder(folder);
  expect(readdirSync(join(place, 'a'))).toEqual(['b']);
});

test('a file in the place of the folder or above it is named', () => {
  const file = join(place, 'file');
  writeFileSync(file, '');
  expect(() => makeExperimentsFolder(file)).toThrow(`${file} is a file.`);
  expect(checkExperimentsFolder(file)).toMatchObject({ state: 'missing', detail: `${file} is a file.` });
  expect(() => makeExperimentsFolder(join(file, 'sub'))).toThrow(`${file} is a file.`);
});

test.runIf(process.platform === 'linux')(
  'a place in which the kernel makes no folders ends with its error',
  () => {
    expect(() => makeExperimentsFolder('/proc/experiments/deep')).toThrow('ENOENT');
    expect(checkExperimentsFolder('/proc/experiments')).toMatchObject({
      state: 'missing',
    });
  },
);
