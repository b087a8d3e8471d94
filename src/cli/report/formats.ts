import { stringify } from 'csv-stringify/sync';
import { markdownTable } from 'markdown-table';
import { plain } from '../table.ts';
import type { DocumentTable, ReportDocument } from './document.ts';
import { terminalTable, wrapped } from './terminal-table.ts';

/** For a terminal. */
export function terminalText({ title, summary, tables }: ReportDocument): string {
  const parts = tables.map((one) => terminalTable(one));
  return [[title, ...summary.flatMap(wrapped)].join('\n'), ...parts].join('\n\n');
}

export function markdownText({ title, summary, tables }: ReportDocument): string {
  const parts = tables.map((one) => {
    const align = one.columns.map((column) => (column.align === 'right' ? 'r' : 'l'));
    const rows = [one.columns.map((column) => column.title), ...textsOf(one)];
    const text = markdownTable(
      rows.map((row) => row.map(markdownCell)),
      { align, alignDelimiters: true, padding: true },
    );
    return [`## ${one.title}`, text, ...noteOf(one)].join('\n\n');
  });
  return `${[`# ${title}`, ...summary, ...parts].join('\n\n')}\n`;
}

/** One table, with values instead of texts: RFC 4180, with a header line. */
export function csvText({ columns, rows }: DocumentTable): string {
  const names = columns.flatMap(({ name, also }) => [name, ...(also ?? [])]);
  const values = rows.map((row) => row.flatMap(({ value, also }) => [value, ...(also ?? [])]));
  // Agents choose some of these texts: one that a spreadsheet would read as a formula gets an apostrophe.
  return stringify([names, ...values], { escape_formulas: true });
}

/** Tables for `\usepackage{booktabs}`. */
export function latexText({ tables }: ReportDocument): string {
  return `${tables.map(latexTable).join('\n\n')}\n`;
}

function latexTable(one: DocumentTable): string {
  const line = (cells: readonly string[]) => `${cells.map(latexCell).join(' & ')} \\\\`;
  return [
    '\\begin{table}',
    '\\centering',
    `\\caption{${latexCell([one.title, ...noteOf(one)].join('. '))}}`,
    `\\label{tab:${one.name}}`,
    `\\begin{tabular}{${one.columns.map(({ align }) => (align === 'right' ? 'r' : 'l')).join('')}}`,
    '\\toprule',
    line(one.columns.map(({ title }) => title)),
    '\\midrule',
    ...textsOf(one).map(line),
    '\\bottomrule',
    '\\end{tabular}',
    '\\end{table}',
  ].join('\n');
}

/** What the numbers are, in one text; none if there is nothing to say. */
function noteOf({ note, columns }: DocumentTable): string[] {
  const notes = [note, ...columns.map((column) => column.note ?? '')].filter((text) => text !== '');
  return notes.length === 0 ? [] : [notes.join(' ')];
}

function textsOf({ rows }: DocumentTable): string[][] {
  return rows.map((row) => row.map(({ text }) => plain(text).replaceAll('\n', ' ')));
}

/** Agents and their models choose some of these texts: none of them may become markup. */
function markdownCell(text: string): string {
  return text.replaceAll(/[\\`*_[\]<>|~&]/g, (character) => `\\${character}`);
}

const latexCharacters: ReadonlyMap<string, string> = new Map([
  ['\\', '\\textbackslash{}'],
  ['~', '\\textasciitilde{}'],
  ['^', '\\textasciicircum{}'],
  ['–', '--'],
  ['−', '$-$'],
  ['±', '$\\pm$'],
  ['…', '\\ldots{}'],
  ['↑', '$\\uparrow$'],
  ['↓', '$\\downarrow$'],
  ['×', '$\\times$'],
  ['≥', '$\\geq$'],
  ['≤', '$\\leq$'],
  ['≈', '$\\approx$'],
]);

function latexCell(text: string): string {
  return text.replaceAll(
    /[\\~^–−±…↑↓×≥≤≈&%$#_{}]/g,
    (character) => latexCharacters.get(character) ?? `\\${character}`,
  );
}
