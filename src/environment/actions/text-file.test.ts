import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contentWith, textFileOf } from './text-file.ts';

test('a file that is read and written back keeps every byte, whatever its line breaks', () => {
  const part = fc.constantFrom('a', 'ü', '\n', '\r\n', '\r', '\ufeff', '\u2028');
  fc.assert(
    fc.property(fc.array(part), (parts) => {
      const content = parts.join('');
      const file = textFileOf(content);
      expect(contentWith(file, file.text).toString('utf8')).toBe(content);
    }),
  );
});

test('Windows line breaks are one character only where the file has no others', () => {
  expect(textFileOf('a\r\nb\r\n')).toMatchObject({ text: 'a\nb\n', lineBreak: '\r\n' });
  expect(textFileOf('a\r\nb\n')).toMatchObject({ text: 'a\r\nb\n', lineBreak: '\n' });
  expect(textFileOf('a')).toMatchObject({ text: 'a', lineBreak: '\n' });
});
