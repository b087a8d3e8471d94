import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { SourceError } from '../data/source.ts';
import { Words } from './words.tsx';

/** A reply, or what is wrong with it. */
export function Answer<Data>({
  result,
  what,
  children,
}: {
  result: UseQueryResult<Data>;
  /** What is requested: `the run`. */
  what: string;
  children: (data: Data) => ReactNode;
}) {
  if (result.data !== undefined) return children(result.data);
  if (result.isError)
    return <ErrorMessage error={result.error} what={what} again={() => void result.refetch()} />;
  return <Loading what={what} />;
}

export function Loading({ what }: { what: string }) {
  return (
    <p className="loading" role="status">
      Reading {what} …
    </p>
  );
}

export function ErrorMessage({ error, what, again }: { error: unknown; what: string; again?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  return (
    <div className="trouble" role="alert">
      <h2>Can't show {what}</h2>
      <p>
        <Words text={message} />
      </p>
      {error instanceof SourceError && error.hint !== '' ? (
        <p className="quiet">
          <Words text={error.hint} />
        </p>
      ) : null}
      {again === undefined ? null : (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** A notice above a page that says what is incomplete, and why. */
export function Notice({ kind, children }: { kind: 'note' | 'warning'; children: ReactNode }) {
  return (
    <div className={`notice notice-${kind}`} role="note">
      {kind === 'warning' ? <span aria-hidden="true">⚠ </span> : null}
      {children}
    </div>
  );
}
