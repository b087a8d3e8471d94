import { createRequire } from 'node:module';
import { stripVTControlCharacters, styleText } from 'node:util';
import { dollars as amountInDollars } from '../lib/dollars.ts';

export interface Column {
  title: string;
  align?: 'left' | 'right';
}

/** On a narrow terminal, a column of text is cut to this width at least; less would say too little. */
const minText = 16;

/**
 * A text table with aligned columns; widths count what a terminal shows. If it is too wide for the terminal, its last
 * column is cut if that is text, else each row becomes a block of lines.
 * @param available columns of the terminal; unlimited by default
 */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  available = process.stdout.isTTY ? process.stdout.columns : Number.POSITIVE_INFINITY,
): string {
  const head = columns.map(({ title }) => cellOf(title));
  const whole = rows.map((row) => columns.map((_, index) => cellOf(row[index] ?? '')));
  const wanted = head.map(({ width }, index) =>
    whole.reduce((widest, cells) => Math.max(widest, cells[index]?.width ?? 0), width),
  );
  const excess = wanted.reduce((sum, width) => sum + width + 2, -2) - available;
  const lastWidth = (wanted.at(-1) ?? 0) - Math.max(0, excess);
  const isCut = excess > 0;
  const least = Math.max(minText, head.at(-1)?.width ?? 0);
  if (isCut && (columns.at(-1)?.align === 'right' || lastWidth < least))
    return blocks(head, whole, available);
  const widths = wanted.with(-1, lastWidth);
  const body = isCut ? whole.map((cells) => cells.with(-1, cut(cells.at(-1), lastWidth))) : whole;
  const line = (cells: readonly Cell[]) => {
    // A table may have thousands of rows, with many empty cells at their ends.
    const shown = cells.slice(0, cells.findLastIndex(({ width }) => width > 0) + 1);
    return shown
      .map((cell, index) => padded(cell, widths[index] ?? 0, columns[index]?.align ?? 'left'))
      .join('  ')
      .trimEnd();
  };
  const rule = widths.map((width) => '─'.repeat(width)).join('  ');
  return [styleText('bold', line(head)), rule, ...body.map(line)].join('\n');
}

/** For each row its first cell, with the others and their titles below it. */
function blocks(head: readonly Cell[], body: readonly (readonly Cell[])[], available: number): string {
  const titles = Math.max(0, ...head.slice(1).map(({ width }) => width));
  const line = (cell: Cell, title: Cell | undefined) => {
    const start = `  ${padded(title ?? cellOf(''), titles, 'left')}  `;
    return `${start}${cut(cell, Math.max(minText, available - titles - 4)).text}`.trimEnd();
  };
  return body
    .map(([first, ...rest]) => {
      const lines = rest.flatMap((cell, index) => (cell.width === 0 ? [] : [line(cell, head[index + 1])]));
      return [styleText('bold', first?.text ?? ''), ...lines].join('\n');
    })
    .join('\n');
}

function cut(cell: Cell | undefined, width: number): Cell {
  if (cell === undefined || cell.width <= width) return cell ?? cellOf('');
  return cellOf(oneLine(cell.text, width));
}

interface Cell {
  text: string;
  width: number;
}

const empty: Cell = { text: '', width: 0 };

/** One line, whatever the text contains. */
function cellOf(text: string): Cell {
  if (text === '') return empty;
  if (isNarrow(text)) return { text, width: text.length };
  const line = text.replaceAll(/[\r\n\v\f\t]+/g, ' ');
  return { text: line, width: widthOf(line) };
}

function padded({ text, width }: Cell, wanted: number, align: 'left' | 'right'): string {
  if (width >= wanted) return text;
  const space = ' '.repeat(wanted - width);
  return align === 'left' ? text + space : space + text;
}

/** Each character takes one column: most texts need no closer look. */
function isNarrow(text: string): boolean {
  return /^[\x20-\x7e·–…−⁰¹²³⁴-⁹]*$/.test(text);
}

const load = createRequire(import.meta.url);
let measure: ((text: string) => number) | undefined;

/**
 * Columns on a terminal. The library is loaded only for texts that need it: loading takes longer than most commands.
 */
function widthOf(text: string): number {
  if (isNarrow(text)) return text.length;
  measure ??= (load('string-width') as typeof import('string-width')).default;
  return measure(text);
}

/** Text written by an agent or its scripts, made safe for a terminal: no escape sequences, no control characters. */
export function plain(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '·');
}

/**
 * Makes output safe for a terminal: keeps mlab's own colours, and removes other escape sequences and control
 * characters. A colour ends with its line, or with the next colour.
 */
export function terminalText(text: string): string {
  return text
    .split(/(\u001b\[(?:1|2|22|31|32|33|36|39)m)/)
    .map((part, index) => (index % 2 === 1 ? part : plain(part)))
    .join('');
}

/** The same JSON, with control characters escaped. */
export function terminalJson(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

let graphemes: Intl.Segmenter | undefined;

/** One line of at most `width` columns, safe for a terminal. */
export function oneLine(text: string, width: number): string {
  if (text === '') return '';
  const line = plain(text).replaceAll(/\s+/g, ' ').trim();
  if (line.length <= width && widthOf(line) <= width) return line;
  let cut = '';
  let used = 1;
  graphemes ??= new Intl.Segmenter();
  for (const { segment } of graphemes.segment(line.slice(0, 8 * width))) {
    used += widthOf(segment);
    // One column can hold many combining marks: their number is limited as well.
    if (used > width || cut.length + segment.length >= width) break;
    cut += segment;
  }
  return `${cut}…`;
}

/** A score with four significant digits. */
export function number(value: number | null): string {
  if (value === null) return '–';
  const isExtreme = value !== 0 && (Math.abs(value) >= 1e6 || Math.abs(value) < 1e-4);
  return withMinus(isExtreme ? value.toExponential(2) : String(Number(value.toPrecision(4))));
}

/** A number with the sign that texts and the viewer use, and none for zero. */
export function withMinus(text: string): string {
  return text.replace(/^-(?=[0.]*$)/, '').replace(/^-/, '−');
}

/** A fraction as per cent; `signed` adds its sign. What is not exactly 0 or 1 does not look like it. */
export function percent(fraction: number | null, signed = false): string {
  if (fraction === null) return '–';
  const value = 100 * fraction;
  // 0.8 - 0.2 is 60.00000000000001 %.
  const isWhole = Math.abs(value - Math.round(value)) < 1e-9;
  const shows = (places: number) => ![0, 100].includes(Math.abs(Number(value.toFixed(places))));
  const digits = Math.abs(value) < 100 && !isWhole ? ([1, 2, 3].find(shows) ?? 1) : 0;
  const text = withMinus(value.toFixed(digits));
  return `${signed && value > 0 ? '+' : ''}${text} %`;
}

/** An interval: `34.2–100 %`; if a bound is negative `−0.3 to +1.7 %`. */
export function interval(
  { low, high }: { low: number; high: number },
  show: (value: number) => string,
): string {
  const [from, to] = [show(low), show(high)];
  const unit = / [^\d ]+$/.exec(to)?.[0] ?? '';
  const first = from.endsWith(unit) ? from.slice(0, from.length - unit.length) : from;
  return /^[-+−]/.test(first) || /^[-+−]/.test(to) ? `${first} to ${to}` : `${first}–${to}`;
}

/** Seconds in readable units: 4.2 s, 3 min 05 s, 2 h 10 min. */
export function duration(seconds: number | null): string {
  if (seconds === null) return '–';
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3600)} h ${String(Math.floor((whole % 3600) / 60)).padStart(2, '0')} min`;
}

/** The same, in milliseconds below 0.1 s: for the times of scripts. */
export function exactDuration(seconds: number): string {
  return seconds < 0.1 ? `${Math.round(1000 * seconds)} ms` : duration(seconds);
}

/** Bytes in readable units. */
export function size(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const exponent = Math.min(4, Math.floor(Math.log(bytes) / Math.log(1024)));
  return `${(bytes / 1024 ** exponent).toFixed(1)} ${['B', 'KiB', 'MiB', 'GiB', 'TiB'][exponent]}`;
}

/** An amount of US dollars; a dash if it is unknown. */
export function dollars(amount: number | null): string {
  return amount === null ? '–' : amountInDollars(amount);
}

/** A number of things: `1 run`, `3 runs`. */
export function counted(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}
