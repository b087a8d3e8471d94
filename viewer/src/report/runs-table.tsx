import { useEffect, useMemo, useRef, useState } from 'react';
import { Link, useSearchParams } from 'react-router';
import { decimalsOf, showCount, showFigure, showPlural } from '../format/numbers.ts';
import { Choice } from '../parts/choice.tsx';
import { RunCells } from './run-cells.tsx';
import { FilterSelects, WordsFilter } from './run-filters.tsx';
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
  /** The address of two runs side by side; null if there is none. */
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

/** All runs: filtered, sorted, grouped; two of them can be compared side by side. */
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
        : [...before, row].slice(0, 2),
    );
  const section = useScrollWhenAsked();
  // Columns in which all rows have the same value are left out.
  const several = useMemo(
    () => ({
      experiments: new Set(rows.map(({ experiment }) => experiment)).size > 1,
      tasks: new Set(rows.map(({ task }) => task)).size > 1,
    }),
    [rows],
  );
  const decimals = useMemo(
    () => rows.reduce((most, { score }) => Math.max(most, decimalsOf(showFigure(score))), 0),
    [rows],
  );
  const hasPlaces = useMemo(() => rows.some((row) => placeWords(row) !== ''), [rows]);
  const columns = allColumns.filter(
    ({ key }) => (key !== 'experiment' || several.experiments) && (key !== 'task' || several.tasks),
  );
  return (
    <section className="runs" id="runs" ref={section} aria-labelledby="runs-title" tabIndex={-1}>
      <header className="runs-head">
        <h2 id="runs-title">Runs</h2>
        <WordsFilter text={query.text} onChange={(q) => change({ q })} />
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
                <span className="visually-hidden">select</span>
              </th>
            )}
            {columns.map(({ key, title, number }) => {
              const active = query.sorting.by === key;
              return (
                <th
                  key={key}
                  scope="col"
                  className={`column-${key}${number ? ' number' : ''}`}
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
            <th scope="col">caveats</th>
          </tr>
        }
        row={(row) => (
          <RunCells
            row={row}
            several={several}
            hasPlaces={hasPlaces}
            href={runHref(row)}
            decimals={decimals}
            select={
              sideBySideHref === null
                ? null
                : {
                    checked: selected.some((known) => sameRun(known, row)),
                    full: selected.length === 2,
                    toggle: () => toggle(row),
                  }
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

/** A plot's link asks for `show=runs`: scrolls to the table. */
function useScrollWhenAsked() {
  const [params] = useSearchParams();
  const section = useRef<HTMLElement>(null);
  const asked = params.get('show') === 'runs' ? params.toString() : '';
  useEffect(() => {
    if (asked !== '') section.current?.scrollIntoView({ block: 'start' });
  }, [asked]);
  return section;
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
      {a === undefined ? 'Select two to compare them side by side.' : 'Select one more.'}
    </span>
  ) : (
    <Link className="button" to={href(a, b)}>
      Side by side
    </Link>
  );
}
