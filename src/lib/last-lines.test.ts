import { expect, test } from 'vitest';
import { lastLines } from './last-lines.ts';

test('what was printed last begins with a whole line, and says that something is left out', () => {
  expect(lastLines('one\ntwo\nthree\n', 100)).toBe('one\ntwo\nthree');
  expect(lastLines('one\ntwo\nthree\n', 7)).toBe('…\nthree');
  expect(lastLines('abcdefgh', 3)).toBe('…\nfgh');
});
