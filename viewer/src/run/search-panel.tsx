import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useNavigate } from 'react-router';
import { SearchResult } from '../../../src/schema/index.ts';
import { useSource } from '../data/use-data.ts';
import { showPlural } from '../format/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { ErrorMessage } from '../parts/states.tsx';
import { runPath } from './step-place.ts';

interface SearchPanelProps {
  experiment: string;
  run: string;
  text: string;
  /** The n-th Enter opens the n-th match, as soon as it is found; after the last one it starts over. */
  enters: number;
  hrefOf: (step: number) => string;
}

/** After this many matches the search waits to be continued. */
const enough = 200;

/** Steps whose texts contain the words. */
export function SearchPanel({ experiment, run, text, enters, hrefOf }: SearchPanelProps) {
  const source = useSource();
  const navigate = useNavigate();
  const search = useInfiniteQuery({
    queryKey: ['search', experiment, run, text],
    initialPageParam: 0,
    queryFn: ({ pageParam, signal }) =>
      source.get(
        runPath({ experiment, run }, 'search'),
        { q: text, from: String(pageParam) },
        SearchResult,
        signal,
      ),
    getNextPageParam: ({ next }: SearchResult) => next,
  });
  const hits = search.data?.pages.flatMap((page) => page.hits) ?? [];
  const { hasNextPage, isFetching, fetchNextPage } = search;
  useEffect(() => {
    if (hasNextPage && !isFetching && hits.length < enough) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage, hits.length]);
  const chosen = enters === 0 || hits.length === 0 ? -1 : (enters - 1) % hits.length;
  const target = hits[chosen]?.step;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each Enter
  useEffect(() => {
    if (target !== undefined) void navigate(hrefOf(target), { replace: true });
  }, [enters, target]);
  if (search.isError) return <ErrorMessage error={search.error} what="search results" />;
  const last = search.data?.pages.at(-1)?.next;
  return (
    <Scroll className="search-hits" label="search results">
      <p className="quiet" role="status">
        {isFetching
          ? `Searching${last === null || last === undefined ? '' : `, at step ${last}`} …`
          : showPlural(hits.length, 'text')}
        {isFetching || hits.length > 0 ? '' : ': no match'}
      </p>
      <ul>
        {hits.map(({ step, place, before, match, after, count }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: finds are their order
          <li key={index}>
            <Link to={hrefOf(step)} className={index === chosen ? 'step-chosen' : undefined}>
              <span className="quiet">
                step {step}, {place}
                {count > 1 ? `, ${count} times` : ''}
              </span>
              <span className="search-text">
                {before}
                <mark>{match}</mark>
                {after}
              </span>
            </Link>
          </li>
        ))}
      </ul>
      {hasNextPage && !isFetching ? (
        <button type="button" onClick={() => void fetchNextPage()}>
          Search on
        </button>
      ) : null}
    </Scroll>
  );
}
