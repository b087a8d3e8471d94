import type { ReportRun, RunLine } from '../../../src/schema/index.ts';
import type { RunFilter } from './report-context.tsx';

/** A run in the table: the current content of its record, and its figures in the report. */
export interface RunRow {
  experiment: string;
  run: string;
  task: string;
  agent: string;
  seed: number;
  status: string;
  /** Host, process and GPUs of a running run; the executor of a waiting one. */
  where: string;
  /** What it waits for, or why it failed. */
  why: string;
  end: string | null;
  outcome: string;
  score: number | null;
  improvement: number | null;
  steps: number;
  seconds: number;
  tokens: number;
  tokens_estimated: number;
  money: number | null;
  flags: readonly string[];
  errors: readonly string[];
  caveats: readonly string[];
  stale: boolean;
  /** Process measures without a value; null while none is known for the run. */
  unmeasured: readonly string[] | null;
  /** Why its record can't be read. */
  unreadable: string | null;
}

export function rowOfReport(run: ReportRun): RunRow {
  const why = run.status === 'failed' ? (run.end?.message ?? '') : '';
  return {
    ...run,
    end: run.end?.reason ?? null,
    where: '',
    why,
    unmeasured: unmeasuredOf(run),
    unreadable: null,
  };
}

/** Only runs that ended are measured. */
function unmeasuredOf({ end, unmeasured = [] }: ReportRun): readonly string[] | null {
  return end === null ? null : unmeasured;
}

/** @param known its figures in the report; null if there are none yet */
export function rowOfLine(experiment: string, line: RunLine, known: ReportRun | null): RunRow {
  // Reports are not made again for each step of a running run.
  const ended = line.status === 'finished' ? known : null;
  return {
    experiment,
    run: line.run,
    task: line.task,
    // The report tells versions of an agent apart.
    agent: known?.agent ?? line.agent,
    seed: line.seed,
    status: line.unreadable === null ? line.state : 'unreadable',
    where: line.where,
    why: line.unreadable ?? line.why,
    end: line.end,
    outcome: known?.outcome ?? (line.end === null ? 'unfinished' : 'not_known'),
    score: known?.score ?? null,
    improvement: known?.improvement ?? null,
    steps: line.steps,
    // That of its trace, as in reports; its record says a little more.
    seconds: ended?.seconds ?? line.used.seconds,
    tokens: line.used.tokens,
    tokens_estimated: line.used.estimated,
    money: ended === null ? (line.used.unpriced > 0 ? null : line.used.money) : ended.money,
    flags: known?.flags ?? [],
    errors: known?.errors ?? [],
    // Evaluation adds caveats to those of the plan, such as how the run was graded.
    caveats: known?.caveats ?? line.caveats,
    stale: known?.stale ?? false,
    unmeasured: known === null ? null : unmeasuredOf(known),
    unreadable: line.unreadable,
  };
}

/** Where it is, and what it waits for or why it failed: as in `mlab runs ls`. */
export function placeWords({ where, why }: RunRow): string {
  return [where, why].filter((part) => part !== '').join(' · ');
}

export const sortKeys = [
  'experiment',
  'run',
  'task',
  'agent',
  'seed',
  'status',
  'outcome',
  'score',
  'improvement',
  'steps',
  'seconds',
  'tokens',
  'money',
] as const;
export type SortKey = (typeof sortKeys)[number];
export interface Sorting {
  by: SortKey;
  descending: boolean;
}

export const groupKeys = ['none', 'task', 'agent', 'outcome', 'status'] as const;
export type GroupKey = (typeof groupKeys)[number];

/** The rows that match all of the filter, and whose names contain every word of the text. */
export function matchingRows(rows: readonly RunRow[], filter: RunFilter, text: string): RunRow[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  return rows.filter(
    (row) =>
      (filter.task === undefined || row.task === filter.task) &&
      (filter.agent === undefined || row.agent === filter.agent) &&
      (filter.outcome === undefined || row.outcome === filter.outcome) &&
      (filter.flag === undefined || row.flags.includes(filter.flag)) &&
      (filter.error === undefined || row.errors.includes(filter.error)) &&
      (filter.measure === undefined || row.unmeasured?.includes(filter.measure) === false) &&
      (words.length === 0 || hasWords(row, words)),
  );
}

function hasWords(row: RunRow, words: readonly string[]): boolean {
  const text =
    `${row.run} ${row.task} ${row.agent} ${row.status} ${row.where} ${row.why} ${row.end ?? ''} ${row.outcome} ${[...row.flags, ...row.errors].join(' ')}`
      .replaceAll('_', ' ')
      .toLowerCase();
  return words.every((word) => text.includes(word));
}

/** Names in the order of their numbers, `run-9` before `run-10`. A collator would take ten times as long. */
function orderOf(value: string | number | null): string | number | null {
  if (typeof value !== 'string') return value;
  return value.toLowerCase().replaceAll(/\d+/g, (digits) => digits.padStart(12, '0'));
}

/** Rows without a value come last, in either direction. */
export function sortedRows(rows: readonly RunRow[], { by, descending }: Sorting): RunRow[] {
  const sign = descending ? -1 : 1;
  const keyed = rows.map((row) => ({ row, key: orderOf(row[by]) }));
  keyed.sort(({ key: a }, { key: b }) => {
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return a < b ? -sign : a > b ? sign : 0;
  });
  return keyed.map(({ row }) => row);
}

export type TableLine = { kind: 'group'; name: string; rows: RunRow[] } | { kind: 'run'; row: RunRow };

/** The lines to show: the rows, with a heading for each group if they are grouped. */
export function tableLines(rows: readonly RunRow[], by: GroupKey): TableLine[] {
  if (by === 'none') return rows.map((row) => ({ kind: 'run', row }));
  const groups = [...Map.groupBy(rows, (row) => row[by])].sort(([a], [b]) => (a < b ? -1 : 1));
  return groups.flatMap(([name, members]): TableLine[] => [
    { kind: 'group', name, rows: members },
    ...members.map((row): TableLine => ({ kind: 'run', row })),
  ]);
}
