import { type Aim, aims } from './attack.ts';
import type { Row } from './rows.ts';
import type { Result } from './run-attacks.ts';

/** A row of the matrix: the results in it, or why nothing could be tried. */
export interface TriedRow {
  row: Row;
  results: readonly Result[];
  obstacle: string | null;
}

const begin = '<!-- attacks: written by `npm run adversary -- --write` -->';
const end = '<!-- /attacks -->';

/** The table as Markdown: how many were tried and held, by aim and by row. */
export function tableOf(tried: readonly TriedRow[], version: string): string {
  const head = ['target', ...tried.map(({ row }) => row.title)];
  const body = Object.entries(aims).map(([aim, meaning]) => [
    meaning,
    ...tried.map((one) => count(one, aim as Aim)),
  ]);
  const all = ['all', ...tried.map((one) => count(one, null))];
  const lines = [head, head.map(() => '---'), ...body, all].map((cells) => `| ${cells.join(' | ')} |`);
  const obstacles = tried.flatMap(({ row, obstacle }) =>
    obstacle === null ? [] : [`- ${row.title}: could not be tried (${obstacle})`],
  );
  return [`Version ${version}; attacks stopped, of those tried:`, '', ...lines, '', ...obstacles]
    .join('\n')
    .trim();
}

function count({ results, obstacle }: TriedRow, aim: Aim | null): string {
  if (obstacle !== null) return '–';
  const tried = results.filter((one) => (aim === null || one.aim === aim) && one.outcome !== 'skipped');
  if (tried.length === 0) return '–';
  return `${tried.filter(({ outcome }) => outcome === 'held').length} of ${tried.length}`;
}

/** Puts the table between the markers of a page; the table of another version stays below it. */
export function withTable(page: string, table: string): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end);
  if (before === undefined || rest === undefined || after?.length !== 2)
    throw new Error(`the page lacks ${begin}`);
  const [old = '', more = ''] = after;
  const version = table.split(';')[0] ?? '';
  const kept = old
    .split(/^(?=Version )/m)
    .filter((part) => part.trim() !== '' && !part.startsWith(`${version};`));
  const parts = [table, ...kept.map((part) => part.trim())].join('\n\n');
  return `${before}${begin}\n\n${parts}\n\n${end}${more}`;
}
