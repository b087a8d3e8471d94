import { useEffect, useMemo, useRef } from 'react';
import { showWords } from '../format/numbers.ts';
import { showFlag } from '../plots/count-plots.tsx';
import { processMeasures } from '../plots/process-plot.tsx';
import type { RunRow } from './run-rows.ts';
import { filterKeys, useRunQuery } from './use-run-query.ts';

/**
 * Its text follows the address, which links in plots and the browser's history also change, but not while someone is
 * typing.
 */
export function WordsFilter({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current !== null && box.current !== document.activeElement) box.current.value = text;
  }, [text]);
  return (
    <input
      ref={box}
      type="search"
      placeholder="Filter by words"
      aria-label="Filter runs by words"
      defaultValue={text}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

const everything = {
  task: 'every task',
  agent: 'every agent',
  outcome: 'every outcome',
  flag: 'with any flag or none',
  error: 'with any failure or none',
  measure: 'measured or not',
};

const shownNames = {
  task: String,
  agent: String,
  outcome: showWords,
  flag: showFlag,
  error: showWords,
  measure: (path: string) =>
    `measured: ${processMeasures.find((known) => known.path === path)?.title ?? path}`,
};

export function FilterSelects({ rows }: { rows: readonly RunRow[] }) {
  const [{ filter }, change] = useRunQuery();
  const choices = useMemo(
    () => ({
      task: [...new Set(rows.map(({ task }) => task))].sort(),
      agent: [...new Set(rows.map(({ agent }) => agent))].sort(),
      outcome: [...new Set(rows.map(({ outcome }) => outcome))].sort(),
      flag: [...new Set(rows.flatMap(({ flags }) => flags))].sort(),
      error: [...new Set(rows.flatMap(({ errors }) => errors))].sort(),
      // Only a link in a plot sets this filter: there are too many measures to choose from.
      measure: filter.measure === undefined ? [] : [filter.measure],
    }),
    [rows, filter.measure],
  );
  return filterKeys.map((key) =>
    choices[key].length < 2 && filter[key] === undefined ? null : (
      <label key={key}>
        <span className="visually-hidden">{key}</span>
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
