import { csvText, latexText, markdownText, terminalText } from '../../../src/cli/report/formats.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

export const outputTarget = defineTarget({
  name: 'report-cells',
  reads: 'words of agents and models that reports show, as CSV, Markdown, LaTeX and text',
  seeds: [
    '=1+1',
    'a | b\n<script>x</script>',
    '[x](javascript:y) ![](a) `c` $x$ \\input{a}',
    '\t=cmd',
    '@a',
    "-1+'x'!A1",
  ],
  words: [
    '=',
    '+',
    '-',
    '@',
    '\t',
    '\r',
    '|',
    '<',
    '>',
    '[',
    ']',
    '(',
    '`',
    '*',
    '_',
    '\\',
    '$',
    '{',
    '}',
    '"',
    ',',
    '\n',
    '＝',
    '&',
  ],
  maxBytes: 4096,
  open: () => ({
    run(input) {
      const text = input.toString('utf8');
      const cells = [
        { text, value: text },
        { text: 'b', value: 1 },
      ];
      const columns = [
        { name: 'a', title: 'A' },
        { name: 'b', title: 'B' },
      ];
      const table = { name: 'one', title: 'One', note: '', columns, rows: [cells] };
      const document = { title: 'Report', summary: [], tables: [table] };
      const csv = csvText(table);
      const [first = ''] = firstRow(csv.slice('a,b\n'.length));
      hold(!/^[=+\-@\t\r＝＋－＠]/.test(first), 'no cell of a CSV file is a formula');
      const rows = markdownText(document)
        .split('\n')
        .filter((line) => line.startsWith('|'));
      hold(rows.length === 3, 'a row of Markdown is one line');
      for (const row of rows) hold(row.replaceAll(/\\./g, '').split('|').length === 4, 'a cell is one cell');
      hold(!/(?<!\\)(?:\\\\)*[<`[]/.test(rows.join('')), 'no markup in cells of Markdown');
      const body =
        latexText(document).split('\\midrule')[1]?.split('\\bottomrule')[0]?.replaceAll(/\\\\$/gm, '') ?? '';
      hold(
        !/\\(?!textbackslash|textasciicircum|textasciitilde|pm\b|ldots|uparrow|downarrow|times|geq|leq|[&%$#_{}~^])/m.test(
          body,
        ),
        'no commands in cells of LaTeX',
      );
      hold(
        !/[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u009b]/.test(terminalText(document)),
        'a terminal gets no controls',
      );
    },
  }),
});

/** The fields of the first row, read according to RFC 4180. */
function firstRow(csv: string): string[] {
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = csv[at] === '"';
    const pattern = quoted ? /"((?:[^"]|"")*)"/y : /([^,\r\n]*)/y;
    pattern.lastIndex = at;
    const match = pattern.exec(csv);
    if (match === null) return fields;
    fields.push((match[1] ?? '').replaceAll('""', '"'));
    at = pattern.lastIndex;
    if (csv[at] !== ',') return fields;
    at += 1;
  }
}
