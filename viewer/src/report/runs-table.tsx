import { useEffect, useMemo, useRef, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import {
  showChange,
  showCount,
  showMoney,
  showPlural,
  showScore,
  showSeconds,
  showTokens,
  showWords,
} from '../format/numbers.ts';
import { OutcomeBadge, StatusBadge } from '../parts/badges.tsx';
import { Choice } from '../parts/choice.tsx';
import { showFlag } from '../plots/count-plots.tsx';
import {
  type GroupKey,
  matchingRows,
  placeWords,
  type RunRow,
  type SortKey,
  sortedRows,
  tableLines,
} from './run-rows.ts';
import { sortingText, useRunQuery } from './use-run-query.ts';
import { VirtualRows } from './virtual-rows.tsx';

interface RunsTableProps {
  rows: readonly RunRow[];
  runHref: (run: { experiment: string; run: string }) => string | null;
  /** Where two runs are seen side by side; null where that can't be had. */
  sideBySideHref: ((a: RunRow, b: RunRow) => string) | null;
}

const allColumns: readonly { key: SortKey; title: string; number: boolean }[] = [
  { key: 'run', title: 'run', number: false },
  { key: 'experiment', title: 'experiment', number: false },
  { key: 'task', title: 'task', number: false },
  { key: 'agent', title: 'agent', number: false },
  { key: 'status', title: 'status', number: false },
  { key: 'outcome', title: 'outcome', number: false },
  { key: 'score', title: 'score', number: true },
  { key: 'improvement', title: 'improvement', number: true },
  { key: 'steps', title: 'steps', number: true },
  { key: 'seconds', title: 'time', number: true },
  { key: 'tokens', title: 'tokens', number: true },
  { key: 'money', title: 'money', number: true },
];

const groupChoices: Record<GroupKey, { title: string }> = {
  none: { title: 'not grouped' },
  task: { title: 'by task' },
  agent: { title: 'by agent' },
  outcome: { title: 'by outcome' },
  status: { title: 'by status' },
};

/** All runs: filtered, sorted, grouped; two of them can be put side by side. */
export function RunsTable({ rows, runHref, sideBySideHref }: RunsTableProps) {
  const [query, change] = useRunQuery();
  const [selected, setSelected] = useState<readonly RunRow[]>([]);
  const shown = useMemo(
    () => sortedRows(matchingRows(rows, query.filter, query.text), query.sorting),
    [rows, query],
  );
  const lines = useMemo(() => tableLines(shown, query.group), [shown, query.group]);
  const toggle = (row: RunRow) =>
    setSelected((before) =>
      before.some((known) => sameRun(known, row))
        ? before.filter((known) => !sameRun(known, row))
        : [...before.slice(-1), row],
    );
  const section = useScrollWhenAsked();
  const several = useMemo(() => new Set(rows.map(({ experiment }) => experiment)).size > 1, [rows]);
  const hasPlaces = useMemo(() => rows.some((row) => placeWords(row) !== ''), [rows]);
  const columns = allColumns.filter(({ key }) => several || key !== 'experiment');
  return (
    <section className="runs" ref={section} aria-labelledby="runs-title" tabIndex={-1}>
      <header className="runs-head">
        <h2 id="runs-title">Runs</h2>
        <input
          type="search"
          placeholder="Filter by words"
          aria-label="Filter runs by words"
          defaultValue={query.text}
          onChange={(event) => change({ q: event.target.value })}
        />
        <FilterSelects rows={rows} />
        <Choice
          label="Group runs"
          value={query.group}
          choices={groupChoices}
          onChange={(group) => change({ group: group === 'none' ? '' : group })}
        />
        <span className="quiet" role="status">
          {shown.length === rows.length
            ? showPlural(rows.length, 'run')
            : `${showCount(shown.length)} of ${showPlural(rows.length, 'run')}`}
        </span>
        {sideBySideHref === null ? null : <SideBySide selected={selected} href={sideBySideHref} />}
      </header>
      <VirtualRows
        lines={lines}
        head={
          <tr>
            {sideBySideHref === null ? null : (
              <th scope="col">
                <span className="only-heard">select</span>
              </th>
            )}
            {columns.map(({ key, title, number }) => {
              const active = query.sorting.by === key;
              return (
                <th
                  key={key}
                  scope="col"
                  className={number ? 'number' : ''}
                  aria-sort={active ? (query.sorting.descending ? 'descending' : 'ascending') : undefined}
                >
                  <button
                    type="button"
                    className="sort"
                    onClick={() => change({ sort: sortingText(key, query.sorting) })}
                  >
                    {title}
                    <span aria-hidden="true">{active ? (query.sorting.descending ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                </th>
              );
            })}
            {hasPlaces ? <th scope="col">where and why</th> : null}
            <th scope="col">remarks</th>
          </tr>
        }
        row={(row) => (
          <RunCells
            row={row}
            several={several}
            hasPlaces={hasPlaces}
            href={runHref(row)}
            select={
              sideBySideHref === null
                ? null
                : { checked: selected.some((known) => sameRun(known, row)), toggle: () => toggle(row) }
            }
          />
        )}
        columns={columns.length + Number(hasPlaces) + (sideBySideHref === null ? 1 : 2)}
      />
    </section>
  );
}

function sameRun(a: RunRow, b: RunRow): boolean {
  return a.run === b.run && a.experiment === b.experiment;
}

/** A plot's link asks for `show=runs`: the table comes into view. */
function useScrollWhenAsked() {
  const [params] = useSearchParams();
  const section = useRef<HTMLElement>(null);
  const asked = params.get('show') === 'runs' ? params.toString() : '';
  useEffect(() => {
    if (asked !== '') section.current?.scrollIntoView({ block: 'start' });
  }, [asked]);
  return section;
}

const everything = {
  task: 'every task',
  agent: 'every agent',
  outcome: 'every outcome',
  flag: 'with any flag or none',
  error: 'with any failure or none',
};

const shownNames = {
  task: String,
  agent: String,
  outcome: showWords,
  flag: showFlag,
  error: showWords,
};

function FilterSelects({ rows }: { rows: readonly RunRow[] }) {
  const [{ filter }, change] = useRunQuery();
  const choices = useMemo(
    () => ({
      task: [...new Set(rows.map(({ task }) => task))].sort(),
      agent: [...new Set(rows.map(({ agent }) => agent))].sort(),
      outcome: [...new Set(rows.map(({ outcome }) => outcome))].sort(),
      flag: [...new Set(rows.flatMap(({ flags }) => flags))].sort(),
      error: [...new Set(rows.flatMap(({ errors }) => errors))].sort(),
    }),
    [rows],
  );
  return (['task', 'agent', 'outcome', 'flag', 'error'] as const).map((key) =>
    choices[key].length < 2 && filter[key] === undefined ? null : (
      <label key={key} className="choice">
        <span className="only-heard">{key}</span>
        <select value={filter[key] ?? ''} onChange={(event) => change({ [key]: event.target.value })}>
          <option value="">{everything[key]}</option>
          {choices[key].map((name) => (
            <option key={name} value={name}>
              {shownNames[key](name)}
            </option>
          ))}
        </select>
      </label>
    ),
  );
}

function SideBySide({
  selected,
  href,
}: {
  selected: readonly RunRow[];
  href: (a: RunRow, b: RunRow) => string;
}) {
  const [a, b] = selected;
  return a === undefined || b === undefined ? (
    <span className="quiet">
      {a === undefined ? 'Select two to put them side by side.' : 'Select one more.'}
    </span>
  ) : (
    <Link className="button" to={href(a, b)}>
      Side by side
    </Link>
  );
}

interface RunCellsProps {
  row: RunRow;
  /** The runs are of more than one experiment. */
  several: boolean;
  /** Some run is somewhere, waits for something or failed. */
  hasPlaces: boolean;
  href: string | null;
  select: { checked: boolean; toggle: () => void } | null;
}

function RunCells({ row, several, hasPlaces, href, select }: RunCellsProps) {
  const remarks = [...row.flags.map(showFlag), ...(row.stale ? ['stale submission'] : []), ...row.marks];
  return (
    <>
      {select === null ? null : (
        <td>
          <input
            type="checkbox"
            checked={select.checked}
            onChange={select.toggle}
            aria-label={`select ${row.run}`}
          />
        </td>
      )}
      <th scope="row">{href === null ? row.run : <Link to={href}>{row.run}</Link>}</th>
      {several ? <td>{row.experiment}</td> : null}
      <td>{row.task}</td>
      <td>{row.agent}</td>
      <td>
        <StatusBadge status={row.status} end={row.end} />
      </td>
      <td>
        <OutcomeBadge outcome={row.outcome} ended={row.end !== null} />
      </td>
      <td className="number">{showScore(row.score)}</td>
      <td className="number">{showChange(row.improvement)}</td>
      <td className="number">{showCount(row.steps)}</td>
      <td className="number">{showSeconds(row.seconds)}</td>
      <td className="number">{showTokens(row.tokens, row.tokens_estimated)}</td>
      <td className="number">{showMoney(row.money)}</td>
      {hasPlaces ? (
        <td className="place" title={placeWords(row)}>
          {placeWords(row)}
        </td>
      ) : null}
      <td className="remarks" title={remarks.join(', ')}>
        {remarks.join(', ')}
      </td>
    </>
  );
}
