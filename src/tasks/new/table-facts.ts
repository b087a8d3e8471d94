import { existsSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { messageOf, UserError } from '../../lib/errors.ts';
import { nearest } from '../../lib/nearest.ts';
import { readRegularFile } from '../../lib/regular-file.ts';

/** Facts about a table that a new task needs. */
export interface TableFacts {
  /** Rows that have a target. */
  rows: number;
  /** Columns that agents see, in their order. */
  features: string[];
  target: string;
  /** Columns that are left out, because tasks number the rows themselves. */
  leftOut: string[];
  /** Features that may leak the target or be useless: what to check, by column. */
  suspects: string[];
  /** Rows that are left out, because they have no target. */
  rowsLeftOut: number;
  /** How often each class occurs; null if the target is a number. */
  classes: Map<string, number> | null;
  /** What about the best constant answer scores: the share of the largest class, or the standard deviation. */
  constantScore: number;
}

const fewestRows = 50;
const maxClasses = 50;
/** A column with more distinct numbers than this is a quantity, not a class. */
const fewestValues = 20;
/** So few different texts among numbers stand for missing values. */
const maxGapWords = 3;
const maxBytes = 256 * 2 ** 20;
const maxColumnsShown = 20;

/** @throws UserError if the file is not a table with a header, or can't become a task */
export function tableFacts(file: string, target: string, dropped: readonly string[] = []): TableFacts {
  const [header, ...rows] = readTable(file);
  if (header === undefined) throw refusal(file, 'is empty', 'Give a table with a header.');
  const [whole = ''] = header;
  const separator = [';', '\t', '|'].find((sign) => header.length === 1 && whole.includes(sign));
  if (separator !== undefined)
    throw refusal(
      file,
      `seems to be separated by ${separator === '\t' ? 'tabs' : `'${separator}'`}`,
      'mlab reads tables that are separated by commas: convert it.',
    );
  const at = header.indexOf(target);
  if (at < 0) throw refusal(file, `has no column ${target}`, columnsOf(header, target));
  const seen = new Set(['']);
  const twice = header.find((name) => seen.size === seen.add(name).size);
  if (twice !== undefined)
    throw refusal(file, `has a column without a name, or "${twice}" twice`, 'Give each its own.');
  const unknown = dropped.find((name) => !header.includes(name) || name === target);
  if (unknown !== undefined)
    throw refusal(file, `has no column ${unknown} to leave out`, columnsOf(header, unknown));
  const leftOut = header.filter((name) => (name === 'id' && name !== target) || dropped.includes(name));
  const features = header.filter((name) => name !== target && !leftOut.includes(name));
  if (features.length === 0)
    throw refusal(file, 'has no column beside the target', 'A task needs at least one.');
  const values = rows.map((row) => row[at] ?? '').filter((value) => value !== '');
  if (values.length < fewestRows) {
    throw refusal(file, `has ${values.length} rows with a ${target}`, `A task needs ${fewestRows} or more.`);
  }
  const classes = classesOf(file, target, values);
  const known = rows.filter((row) => (row[at] ?? '') !== '');
  return {
    ...{ rows: values.length, features, target, leftOut, rowsLeftOut: rows.length - values.length },
    suspects: features.flatMap((name) => {
      const place = header.indexOf(name);
      return suspicionOf(
        name,
        known.map((row) => row[place] ?? ''),
      );
    }),
    classes,
    constantScore:
      classes === null ? deviationOf(values.map(Number)) : Math.max(...classes.values()) / values.length,
  };
}

function deviationOf(numbers: readonly number[]): number {
  const mean = numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  return Math.sqrt(numbers.reduce((sum, each) => sum + (each - mean) ** 2, 0) / numbers.length);
}

const dateLike = /^\d{4}-\d{1,2}-\d{1,2}|^\d{1,2}[./]\d{1,2}[./]\d{2,4}/;

/** Columns that probably identify a row, which says nothing about other rows, or a time, which may leak the future. */
function suspicionOf(name: string, values: readonly string[]): string[] {
  const given = values.filter((value) => value !== '');
  if (given.length === 0) return [`${name} is empty`];
  if (given.every((value) => dateLike.test(value))) return [`${name} looks like a date`];
  const isName = given.every((value) => /^\d+$/.test(value) || !Number.isFinite(Number(value)));
  return isName && new Set(values).size === values.length ? [`${name} differs in every row`] : [];
}

function readTable(file: string): string[][] {
  try {
    if (!existsSync(file)) throw new UserError('bad_table', `There is no file ${file}.`, 'Check the path.');
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      readRegularFile(file, maxBytes, { follow: true }),
    );
    // A space before a quote is refused: prepare.py would read such a cell in another way.
    const table: string[][] = parse(text, { bom: true, skip_empty_lines: true });
    return table.map((row) => row.map((cell) => cell.trim()));
  } catch (error) {
    if (UserError.isInstance(error) && error.code === 'bad_table') throw error;
    if (error instanceof UserError)
      throw new UserError(error.code, error.message, 'Give a CSV file of up to 256 MiB.');
    throw refusal(
      file,
      `can't be read: ${messageOf(error)}`,
      'It must be CSV with a header and commas, in UTF-8.',
    );
  }
}

function columnsOf(header: readonly string[], target: string): string {
  const like = nearest(target, header);
  const shown = header.slice(0, maxColumnsShown).join(', ');
  const more = header.length > maxColumnsShown ? ` and ${header.length - maxColumnsShown} more` : '';
  return `${like === null ? '' : `Did you mean ${like}? `}Its columns are: ${shown}${more}.`;
}

function classesOf(file: string, target: string, values: readonly string[]): Map<string, number> | null {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  const areNumbers = [...counts.keys()].every((value) => Number.isFinite(Number(value)));
  if (areNumbers && counts.size > fewestValues) return null;
  if (counts.size < 2) throw refusal(file, 'has only one value in its target', 'A task needs at least two.');
  if (counts.size <= maxClasses) return counts;
  const texts = [...counts].filter(([value]) => !Number.isFinite(Number(value)));
  if (texts.length <= maxGapWords && counts.size - texts.length > fewestValues) {
    const rows = texts.reduce((sum, [, count]) => sum + count, 0);
    const words = texts.map(([text]) => `'${text}'`).join(', ');
    throw new UserError(
      'bad_table',
      `${file}: ${target} holds numbers and ${words} (${rows} rows).`,
      'Leave those cells empty, so that their rows are left out.',
    );
  }
  throw refusal(
    file,
    `has ${counts.size} distinct texts in its target`,
    `A target must be a number, or one of up to ${maxClasses} classes.`,
  );
}

function refusal(file: string, what: string, hint: string): UserError {
  return new UserError('bad_table', `${file} ${what}.`, hint);
}
