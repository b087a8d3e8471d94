import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shellWord } from '../../lib/shell-word.ts';
import { commandWords, plainWords } from './command-words.ts';

test('quotes and backslashes make spaces parts of a word, as in a shell', () => {
  expect(plainWords(`python 'my agents/a.py' "b \\"c\\".py" d\\ e.py f'g 'h --x="$Y"`)).toEqual([
    ...['python', 'my agents/a.py', 'b "c".py', 'd e.py', 'fg h', '--x=$Y'],
  ]);
});

test('whatever a command is, its parts are the command, and quoted words are themselves', () => {
  fc.assert(
    fc.property(fc.string(), (command) => {
      const parts = commandWords(command);
      expect(parts.map((part) => (typeof part === 'string' ? part : part.written)).join('')).toBe(command);
    }),
  );
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 })), (names) => {
      expect(plainWords(names.map(shellWord).join(' '))).toEqual(names);
    }),
  );
});
