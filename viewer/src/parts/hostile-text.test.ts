import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ansiPieces } from './ansi-pieces.ts';
import { codeLines } from './code-tokens.ts';
import { diffHunks } from './unified-diff.ts';

const sequence = '\u001b';
const printable = /^[^\u0000-\u0008\u000b-\u001f\u007f-\u009f]*$/;
const pieceOfOutput = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    `${sequence}[31m`,
    `${sequence}[0m`,
    `${sequence}[2J`,
    `${sequence}]0;title\u0007`,
    `${sequence}]8;;http://x${sequence}\\`,
    '\r',
    '\r\n',
    '\n',
    `${sequence}[`,
    `${sequence}]`,
  ),
);

test('any output is shown without control characters, and only with classes of the style sheet', () => {
  fc.assert(
    fc.property(fc.array(pieceOfOutput, { maxLength: 12 }), (parts) => {
      for (const { text, classes } of ansiPieces(parts.join(''))) {
        expect(text).toMatch(printable);
        for (const name of classes) expect(name).toMatch(/^ansi-[a-z-]+$/);
      }
    }),
  );
});

test('colours become classes, and other control sequences are dropped', () => {
  const text = `${sequence}]0;owned\u0007${sequence}[2J${sequence}[1;31mred${sequence}[0m plain`;
  expect(ansiPieces(text)).toEqual([
    { text: 'red', classes: ['ansi-red', 'ansi-bold'] },
    { text: ' plain', classes: [] },
  ]);
});

test('an overwritten line is shown in its last state', () => {
  const shown = ansiPieces('10 %\r 50 %\r100 %\nnext\r\nlast')
    .map(({ text }) => text)
    .join('');
  expect(shown).toBe('100 %\nnext\nlast');
});

test.each(['python', 'json', null] as const)(
  'coloured code has the same text, letter by letter (%s)',
  (language) => {
    const code = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc
        .array(fc.constantFrom('def f(x):', '\n', '  ', '"', "'''", '#', '{', '1e5', '\r', '\t'))
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(code, (text) => {
        const lines = codeLines(text, language).map((tokens) => tokens.map((token) => token.text).join(''));
        expect(lines.join('\n')).toBe(text);
      }),
    );
  },
);

test('names and numbers of Python get colours', () => {
  const kinds = codeLines('def train(rate=0.1):  # fast\n    return "x"', 'python')
    .flat()
    .map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining(['code-keyword', 'code-name', 'code-number', 'code-comment', 'code-string']),
  );
});

test('a diff keeps the numbers of its lines on both sides', () => {
  const unified = '--- a.py\n+++ a.py\n@@ -3,3 +3,4 @@\n same\n-old\n+new\n+newer\n last\n';
  const [hunk] = diffHunks(unified);
  expect(hunk?.lines.map(({ kind, before, after, text }) => [kind, before, after, text])).toEqual([
    ['same', 3, 3, 'same'],
    ['removed', 4, null, 'old'],
    ['added', null, 4, 'new'],
    ['added', null, 5, 'newer'],
    ['same', 5, 6, 'last'],
  ]);
});

test('a text that is not a diff has no hunks', () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void diffHunks(text)));
  expect(diffHunks('@@ -1,2 +9 @@ nonsense')).toEqual([]);
});
