import { Fragment, type ReactNode, useEffect } from 'react';
import { Link } from 'react-router';
import type { Live } from '../data/use-live.ts';
import { ThemeSwitch } from './theme-switch.tsx';

export interface Crumb {
  title: string;
  to: string;
}

interface PageProps {
  title: string;
  crumbs?: readonly Crumb[];
  live?: Live['state'];
  /** The page fills the window, and its parts scroll. */
  filled?: boolean;
  children: ReactNode;
}

/** The frame of every page: where one is, whether what is shown is up to date, and the page. */
export function Page({ title, crumbs = [], live = 'still', filled = false, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · mlagentbench`;
  }, [title]);
  return (
    <div className={filled ? 'page page-filled' : 'page'}>
      <button type="button" className="skip" onClick={() => document.getElementById('main')?.focus()}>
        To the content
      </button>
      <header className="top">
        <nav aria-label="Where you are">
          <Link to="/" className="brand">
            mlagentbench
          </Link>
          {crumbs.map(({ title: name, to }) => (
            <Fragment key={to}>
              <span aria-hidden="true" className="crumb-sign">
                /
              </span>
              <Link to={to}>{name}</Link>
            </Fragment>
          ))}
        </nav>
        <LiveSign state={live} />
        <ThemeSwitch />
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  );
}

const liveWords: Record<Live['state'], string> = {
  still: '',
  open: 'live',
  connecting: 'connecting …',
  lost: 'connection lost, trying again …',
};

function LiveSign({ state }: { state: Live['state'] }) {
  return (
    <span className={`live live-${state}`} role="status">
      {liveWords[state]}
    </span>
  );
}
