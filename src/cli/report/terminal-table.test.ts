import { expect, test } from 'vitest';
import type { DocumentTable } from './document.ts';
import { terminalTable } from './terminal-table.ts';

const columns = [
  { title: 'task', name: 'task' },
  { title: 'success', name: 'success', align: 'right' as const },
  {
    ...{ title: '95 % interval', name: 'success_low', also: ['success_high'], isInterval: true as const },
    align: 'right' as const,
  },
  { title: 'score', name: 'score', spare: 1, note: 'Score: a mean.' },
  { title: 'time', name: 'time', spare: 2 },
  { title: '', name: 'caveats', isCaveat: true as const },
];
const cells = (...texts: string[]) => texts.map((text) => ({ text, value: text }));
const results: DocumentTable = {
  ...{ name: 'results', title: 'Results', note: 'A note.', columns },
  rows: [
    cells('digits', '100 %', '34–100 %', '0.98', '2 s', 'timed beside other work'),
    cells('diabetes', '0 %', '–', '57', '3 s', ''),
    cells('ecoli', '50 %', '10–90 %', '0.7', '3 s', 'timed beside other work'),
  ],
};
const shown = (available?: number) => terminalTable(results, available).split('\n').slice(1);

test('an interval follows its value, and caveats are listed below the table, each once', () => {
  expect(shown(80)).toEqual([
    expect.stringContaining('task               success  score  time'),
    '────────  ────────────────  ─────  ────',
    'digits¹   100 % (34–100 %)  0.98   2 s',
    'diabetes               0 %  57     3 s',
    'ecoli¹      50 % (10–90 %)  0.7    3 s',
    '¹ timed beside other work',
    'A note. Score: a mean.',
  ]);
});

test('a narrow terminal omits the least important columns, and says which', () => {
  const narrow = shown(34);
  expect(narrow[2]).toBe('digits¹   100 % (34–100 %)  0.98');
  expect(narrow).toContain('Not shown for lack of width: time.');
  expect(shown(28)).toContain('Not shown for lack of width: score, time.');
  // What is left is never given up: each row becomes a block.
  expect(shown(12).join('\n')).toMatch(/digits¹\n +success +100 %/);
});
