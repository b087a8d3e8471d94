import { expect, test } from 'vitest';
import { withoutEnd } from './without-end.ts';

test('only the characters at the end are left out', () => {
  expect(withoutEnd('-a--b-’-', '’-')).toBe('-a--b');
  expect(withoutEnd('---', '-')).toBe('');
  expect(withoutEnd('', '-')).toBe('');
});

test('a long row elsewhere in the text takes no time', () => {
  const text = `${'\n'.repeat(5_000_000)}x`;
  expect(withoutEnd(text, '\n') === text).toBe(true);
});
