import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DocumentTable, ReportDocument } from './document.ts';
import { csvText, latexText, markdownText, terminalText } from './formats.ts';

const columns = [
  { title: 'agent', name: 'agent' },
  { title: '95 % interval', name: 'low', also: ['high'], align: 'right' as const },
  { title: 'detail', name: 'detail', isDetail: true as const },
];

function tableOf(texts: readonly string[]): DocumentTable {
  const rows = texts.map((text) => [
    { text, value: text },
    { text: '10–20 %', value: 0.1, also: [0.2] },
    { text: 'd', value: null },
  ]);
  return { name: 'results', title: 'Results', note: 'A note.', columns, rows };
}

function documentOf(...texts: string[]): ReportDocument {
  return { title: 'first', summary: ['2 runs.'], tables: [tableOf(texts)] };
}

const anything = fc.string({ unit: 'binary', maxLength: 30 });

test('a terminal shows the texts without details', () => {
  const text = terminalText(documentOf('automl'));
  expect(text).toMatch(/automl +10–20 %/);
  expect(text).toContain('A note.');
  expect(text).not.toContain('detail');
});

test('no control characters of a text reach a terminal', () => {
  expect(terminalText(documentOf('a\u001b[31mred\u0007'))).not.toMatch(/\u001b\[31m|\u0007/);
});

test('every row of a Markdown table has all columns, and no text adds markup', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const rows = markdownText(documentOf(text))
        .split('\n')
        .filter((line) => line.startsWith('|'));
      expect(rows).toHaveLength(3);
      for (const row of rows) expect(row.match(/(?<!\\)(?:\\\\)*\|/g)).toHaveLength(4);
      expect(rows[2]).not.toMatch(/(?<!\\)(?:\\\\)*[<`[]/);
    }),
  );
});

test('Python reads the original values back from CSV', () => {
  const texts = ['plain', 'comma, "quote"', 'two\nlines', 'ünïcode'];
  const script = 'import csv, json, sys; print(json.dumps(list(csv.reader(sys.stdin))))';
  const read: unknown = JSON.parse(
    execFileSync('python3', ['-c', script], { input: csvText(tableOf(texts)), encoding: 'utf8' }),
  );
  const rows = texts.map((text) => [text, '0.1', '0.2', '']);
  expect(read).toEqual([['agent', 'low', 'high', 'detail'], ...rows]);
});

test('a text that a spreadsheet would run as a formula is made harmless', () => {
  expect(csvText(tableOf(['=1+1'])).split('\n')[1]).toMatch(/^'=1\+1/);
});

/** Characters of our own tables that LaTeX has other commands for. */
const special = '\\~^–−±…↑↓×≥≤≈';

test('LaTeX output writes every character of our tables in ASCII', () => {
  expect(latexText(documentOf(special))).toMatch(/^[\n -~]*$/);
});

test('LaTeX output contains no command from a text, and balanced braces', () => {
  fc.assert(
    fc.property(anything, (text) => {
      const latex = latexText(documentOf(text));
      const commands = new Set(latex.match(/\\[a-zA-Z]+/g));
      const known = latexText(documentOf(special)).match(/\\[a-zA-Z]+/g);
      expect([...commands].filter((command) => !known?.includes(command))).toEqual([]);
      const bare = latex.replaceAll(/\\[\\{}]/g, '');
      expect(bare.split('{').length).toBe(bare.split('}').length);
    }),
  );
  expect(latexText(documentOf('50 % & more_than #1'))).toContain('50 \\% \\& more\\_than \\#1 & 10--20 \\% ');
});
