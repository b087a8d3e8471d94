import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeName, encodePath, showPath } from './path-text.ts';

test('every sequence of bytes is kept as text, also through JSON', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = JSON.parse(JSON.stringify(decodeName(Buffer.from(bytes))));
      expect(Buffer.from(encodePath(text) ?? 'refused').equals(Buffer.from(bytes))).toBe(true);
    }),
  );
});

test('text and bytes correspond one to one', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      const bytes = encodePath(text);
      if (bytes !== null) expect(decodeName(Buffer.from(bytes))).toBe(text);
    }),
  );
});

test('text that no name decodes to is refused', () => {
  expect(encodePath('\udcc3\udca9')).toBeNull();
  expect(encodePath('\ud800')).toBeNull();
  expect(encodePath('caf\udce9')).toEqual(Buffer.from('caf\xe9', 'latin1'));
});

test('a name with a line break is shown on one line', () => {
  expect(showPath('a\nb')).toBe('"a\\nb"');
  expect(showPath('été.txt')).toBe('été.txt');
  expect(showPath('a\u009b2Jb\u202egpj.exe\u007f')).toBe('"a\\u009b2Jb\\u202egpj.exe\\u007f"');
});
