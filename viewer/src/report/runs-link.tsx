import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { type RunFilter, useReport } from './report-context.tsx';

/** To the list of runs, filtered to those behind a number. */
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
  /** As a fraction of what it lies in. */
  width?: number;
  children: ReactNode;
}) {
  const { runsHref } = useReport();
  return (
    <Link
      to={runsHref(filter)}
      className={className}
      aria-label={label}
      preventScrollReset
      style={width === undefined ? undefined : { width: `${width * 100}%` }}
    >
      {children}
    </Link>
  );
}
