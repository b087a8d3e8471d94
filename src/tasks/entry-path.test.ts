import { join, posix, resolve, sep, win32 } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { judgeEntryPath } from './entry-path.ts';

const segment = fc.oneof(
  fc.constantFrom('..', '.', '', 'a', 'data', '...', '.. ', 'C:', '\\', '..\\', '\u0000', '~', '%2e%2e'),
  fc.string({ maxLength: 8 }),
);
const name = fc.oneof(
  fc.array(segment, { maxLength: 40 }).map((segments) => segments.join('/')),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

describe('an entry’s path', () => {
  it('never leaves the folder, on any system, once it is accepted', () => {
    fc.assert(
      fc.property(name, (text) => {
        const judged = judgeEntryPath(text);
        if (!judged.ok) return;
        expect(resolve('/target', judged.path).startsWith(`/target${sep}`)).toBe(true);
        expect(win32.resolve('D:\\target', judged.path).startsWith('D:\\target\\')).toBe(true);
      }),
      { numRuns: 3000 },
    );
  });

  it('is accepted if it consists of plain names, and then keeps its meaning', () => {
    const plain = fc.stringMatching(/^[A-Za-z0-9_ .-]{1,12}$/).filter((text) => !/^\.{1,2}$/.test(text));
    fc.assert(
      fc.property(fc.array(plain, { minLength: 1, maxLength: 8 }), (names) => {
        const path = names.join('/');
        expect(judgeEntryPath(path)).toEqual({ ok: true, path });
        expect(judgeEntryPath(`./${path}/`)).toEqual({ ok: true, path });
        expect(posix.normalize(path)).toBe(join(path));
      }),
    );
  });

  it('is accepted again after it was accepted once', () => {
    fc.assert(
      fc.property(name, (text) => {
        const judged = judgeEntryPath(text);
        if (judged.ok) expect(judgeEntryPath(judged.path)).toEqual(judged);
      }),
    );
  });

  it.each([
    '../x',
    'a/../../x',
    'a/..',
    '/etc/passwd',
    'C:/x',
    'c:x',
    'a\\..\\x',
    'a\u0000b',
    'a\nb',
    '',
    '.',
    './',
    'a/'.repeat(40),
    'x'.repeat(300),
  ])('%j is refused', (path) => {
    expect(judgeEntryPath(path).ok).toBe(false);
  });
});
