import { expect, test } from 'vitest';
import { compareHostFiles } from './host-files.ts';

const before = new Map([
  ['/a', '33188 1 x'],
  ['/b', '33188 2 y'],
]);

test('unchanged files are not a breach', () => {
  expect(compareHostFiles(before, new Map(before)).breached).toBe(false);
});

test.each([
  ['changed', new Map([...before, ['/a', '33188 1 z']])],
  ['removed', new Map([['/a', '33188 1 x']])],
  ['added', new Map([...before, ['/c', '33188 3 x']])],
])('a file that was %s is a breach', (_, after) => {
  expect(compareHostFiles(before, after).breached).toBe(true);
});
