import { keepPreviousData, QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { type Parser, type Source, SourceError } from './source.ts';

export const SourceContext = createContext<Source | null>(null);

export function useSource(): Source {
  const source = use(SourceContext);
  if (source === null) throw new Error('There is no source around this component.');
  return source;
}

interface Wanted<Data> {
  path: readonly string[];
  query?: Readonly<Record<string, string>>;
  parser: Parser<Data>;
  enabled?: boolean;
  /** Requested again in this interval while the reply says that it is not complete. */
  againWhile?: (data: Data) => boolean;
  /** Shows the old data until the new is there. */
  keep?: boolean;
}

/** The reply at an address. Live events renew it, so it never becomes outdated. */
export function useData<Data>({
  path,
  query = {},
  parser,
  enabled = true,
  againWhile,
  keep = false,
}: Wanted<Data>): UseQueryResult<Data> {
  const source = useSource();
  return useQuery<Data>({
    queryKey: keyOf(path, query),
    queryFn: ({ signal }) => source.get(path, query, parser, signal),
    enabled,
    ...(keep ? { placeholderData: keepPreviousData } : {}),
    refetchInterval: ({ state }) =>
      state.data !== undefined && againWhile?.(state.data) === true ? 2000 : false,
  });
}

export function keyOf(path: readonly string[], query: Readonly<Record<string, string>> = {}) {
  return [...path, query];
}

export function createClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: Number.POSITIVE_INFINITY,
        refetchOnWindowFocus: false,
        retry: (failures, error) =>
          failures < 2 && error instanceof SourceError && error.code === 'unreachable',
      },
    },
  });
}
