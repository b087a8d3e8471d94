import { useMemo } from 'react';
import { useSearchParams } from 'react-router';
import { useAddressChange, withParameters } from '../parts/use-address-choice.ts';
import type { RunFilter } from './report-context.tsx';
import { type GroupKey, groupKeys, type Sorting, type SortKey, sortKeys } from './run-rows.ts';

export const filterKeys = ['task', 'agent', 'outcome', 'flag', 'error', 'measure'] as const;

export interface RunQuery {
  filter: RunFilter;
  text: string;
  sorting: Sorting;
  group: GroupKey;
}

/** Filter, order and grouping of the runs: they are in the address, so that they can be shared. */
export function useRunQuery(): [RunQuery, (changes: Readonly<Record<string, string>>) => void] {
  const [params] = useSearchParams();
  const query = useMemo(() => queryOf(params), [params]);
  return [query, useAddressChange()];
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

/**
 * The address of a list of exactly these runs.
 * @param here other choices on the page: plots and the order of runs stay, filters and words are dropped
 */
export function filterAddress(filter: RunFilter, here = new URLSearchParams()): string {
  const changes = filterKeys.map((key): [string, string] => [key, filter[key] ?? '']);
  const params = withParameters(here, { ...Object.fromEntries(changes), q: '' });
  params.set('show', 'runs');
  return `?${params}`;
}
