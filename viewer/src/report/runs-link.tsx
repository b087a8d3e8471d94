import type { ReactNode } from 'react';
import { Link, useSearchParams } from 'react-router';
import type { RunFilter } from './report-context.tsx';
import { filterAddress } from './use-run-query.ts';

/** A link to the list of runs, filtered to those behind a number. */
export function RunsLink({
  filter,
  className,
  label,
  width,
  children,
}: {
  filter: RunFilter;
  className?: string;
  label?: string;
  /** As a fraction of its container. */
  width?: number;
  children: ReactNode;
}) {
  const [params] = useSearchParams();
  return (
    <Link
      to={filterAddress(filter, params)}
      className={className}
      aria-label={label}
      preventScrollReset
      style={width === undefined ? undefined : { width: `${width * 100}%` }}
    >
      {children}
    </Link>
  );
}
