import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { exampleEntry } from '../../test/fixtures/experience.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { addEntries, experiencePath, readEntries } from './store.ts';

let path: string;

beforeEach(() => {
  path = join(temporaryFolder(), 'deep', 'experience.jsonl');
});

const another = exampleEntry({ id: 'ba9876543210' });

test('added entries are read, each once, and existing lines never change', () => {
  expect(addEntries(path, [exampleEntry(), exampleEntry()])).toBe(1);
  const before = readFileSync(path, 'utf8');
  expect(addEntries(path, [exampleEntry(), another])).toBe(1);
  expect(readFileSync(path, 'utf8').startsWith(before)).toBe(true);
  expect(readEntries(path)).toEqual({ entries: [exampleEntry(), another], broken: [] });
});

test('a truncated line does not affect others, before or after it', () => {
  addEntries(path, [exampleEntry()]);
  appendFileSync(path, JSON.stringify(another).slice(0, 40));
  expect(readEntries(path)).toEqual({ entries: [exampleEntry()], broken: [2] });
  addEntries(path, [another]);
  expect(readEntries(path)).toEqual({ entries: [exampleEntry(), another], broken: [2] });
});

test('a folder means the store in it; a missing or invalid store is reported', () => {
  mkdirSync(join(path, '..'), { recursive: true });
  expect(experiencePath(join(path, '..'))).toBe(path);
  expect(experiencePath(path)).toBe(path);
  expect(() => readEntries(path)).toThrow('There is no experience');
  writeFileSync(path, '# Read me\n');
  expect(() => readEntries(path)).toThrow('no line can be read');
});

test('an entry of a newer version is ignored', () => {
  addEntries(path, [another]);
  appendFileSync(path, `${JSON.stringify({ ...exampleEntry(), v: 2 })}\n`);
  expect(readEntries(path)).toEqual({ entries: [another], broken: [2] });
});
