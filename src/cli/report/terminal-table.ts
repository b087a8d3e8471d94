import { styleText } from 'node:util';
import { plain, table } from '../table.ts';
import type { DocumentCell, DocumentTable } from './document.ts';

/** Columns of a terminal; without one, as many as a table needs. */
const availableColumns = () => (process.stdout.isTTY && process.stdout.columns) || Number.POSITIVE_INFINITY;

/** A table for people at a terminal, with its notes below. */
export function terminalTable(whole: DocumentTable, available = availableColumns()): string {
  const { footnotes, ...marked } = withFootnotes(withIntervals(withoutDetails(whole)));
  let shown: DocumentTable = marked;
  const left: string[] = [];
  for (;;) {
    const text = textOf(shown, Number.POSITIVE_INFINITY);
    const [first] = shown.columns
      .filter(({ spare }) => spare !== undefined)
      .toSorted((one, other) => (other.spare ?? 0) - (one.spare ?? 0));
    if (first === undefined || widest(text) <= available) break;
    left.unshift(first.title);
    const { columns } = shown;
    shown = keepColumns(shown, (index) => columns[index] !== first);
  }
  const notes = [
    ...footnotes,
    ...(left.length === 0 ? [] : [`Not shown for lack of width: ${left.join(', ')}.`]),
    ...wrapped([whole.note, ...shown.columns.map(({ note }) => note ?? '')].join(' ')),
  ];
  return [styleText('bold', whole.title), textOf(shown, available), ...notes].join('\n');
}

const lineWidth = Math.min(110, (process.stdout.isTTY ? process.stdout.columns || 110 : 110) - 1);

/** Lines that are short enough to read easily; none for an empty text. */
export function wrapped(text: string): string[] {
  const lines: string[] = [];
  for (const word of plain(text).trim().split(/ +/)) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > lineWidth) lines.push(word);
    else lines[lines.length - 1] = `${line} ${word}`;
  }
  return lines.filter((line) => line !== '');
}

function textOf({ columns, rows }: DocumentTable, available: number): string {
  const texts = rows.map((row) => row.map(({ text }) => plain(text).replaceAll('\n', ' ')));
  return table(columns, texts, available);
}

function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

function keepColumns(one: DocumentTable, isKept: (index: number) => boolean): DocumentTable {
  const keep = <Item>(items: readonly Item[]) => items.filter((_, index) => isKept(index));
  return { ...one, columns: keep(one.columns), rows: one.rows.map(keep) };
}

/** Without columns that need a wide page, and without columns that say nothing: no value, or no cost. */
function withoutDetails(one: DocumentTable): DocumentTable {
  const isKnown = (index: number) =>
    one.rows.length === 0 || one.rows.some((row) => !['–', '', '$0', undefined].includes(row[index]?.text));
  return keepColumns(one, (index) => one.columns[index]?.isDetail !== true && isKnown(index));
}

/** Each interval in brackets behind its value. */
function withIntervals(one: DocumentTable): DocumentTable {
  const follows = (index: number) => index > 0 && one.columns[index]?.isInterval === true;
  const rows = one.rows.map((row) =>
    row.map((cell, index): DocumentCell => {
      const interval = follows(index + 1) ? row[index + 1] : undefined;
      return interval === undefined || interval.text === '–'
        ? cell
        : { ...cell, text: `${cell.text} (${interval.text})` };
    }),
  );
  return keepColumns({ ...one, rows }, (index) => !follows(index));
}

/** Caveats below the table, with a mark in the first column. */
function withFootnotes(one: DocumentTable): DocumentTable & { footnotes: string[] } {
  const at = one.columns.findIndex(({ isCaveat }) => isCaveat === true);
  if (at < 0) return { ...one, footnotes: [] };
  const caveats = [...new Set(one.rows.map((row) => row[at]?.text ?? ''))].filter((text) => text !== '');
  const rows = one.rows.map((row) => {
    const number = caveats.indexOf(row[at]?.text ?? '');
    const [first, ...rest] = row;
    if (number < 0 || first === undefined) return row;
    return [{ ...first, text: `${first.text}${superscript(number + 1)}` }, ...rest];
  });
  const footnotes = caveats.map((text, number) => `${superscript(number + 1)} ${plain(text)}`);
  return { ...keepColumns({ ...one, rows }, (index) => index !== at), footnotes };
}

function superscript(number: number): string {
  return [...String(number)].map((digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(digit)]).join('');
}
