import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import type { RunFilter } from './report-context.tsx';
import { type GroupKey, groupKeys, type Sorting, type SortKey, sortKeys } from './run-rows.ts';

const filterKeys = ['task', 'agent', 'outcome', 'flag', 'error'] as const;

export interface RunQuery {
  filter: RunFilter;
  text: string;
  sorting: Sorting;
  group: GroupKey;
}

/** Filter, order and grouping of the runs: they stand in the address, so that they can be shared. */
export function useRunQuery(): [RunQuery, (changes: Record<string, string>) => void] {
  const [params, setParams] = useSearchParams();
  const query = useMemo(() => queryOf(params), [params]);
  const change = (changes: Record<string, string>) =>
    setParams(
      (before) => {
        const next = new URLSearchParams(before);
        // That was a plot's link; who changes something here is here already.
        next.delete('show');
        for (const [key, value] of Object.entries(changes)) {
          if (value === '') next.delete(key);
          else next.set(key, value);
        }
        return next;
      },
      { replace: true, preventScrollReset: true },
    );
  return [query, change];
}

export function queryOf(params: URLSearchParams): RunQuery {
  const filter: RunFilter = {};
  for (const key of filterKeys) {
    const value = params.get(key);
    if (value !== null) filter[key] = value;
  }
  const sort = params.get('sort') ?? '';
  const by = sortKeys.find((key) => key === sort.replace(/^-/, ''));
  return {
    filter,
    text: params.get('q') ?? '',
    sorting: { by: by ?? 'run', descending: by !== undefined && sort.startsWith('-') },
    group: groupKeys.find((key) => key === params.get('group')) ?? 'none',
  };
}

export function sortingText(by: SortKey, before: Sorting): string {
  return before.by === by && !before.descending ? `-${by}` : by;
}

export function filterAddress(filter: RunFilter): string {
  const params = new URLSearchParams();
  for (const key of filterKeys) {
    const value = filter[key];
    if (value !== undefined) params.set(key, value);
  }
  params.set('show', 'runs');
  return `?${params}`;
}
