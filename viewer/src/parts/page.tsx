import { createContext, Fragment, type ReactNode, type RefObject, use, useEffect } from 'react';
import { Link, useLocation } from 'react-router';
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
  /** It contains a list of runs, far down. */
  listsRuns?: boolean;
  children: ReactNode;
}

/** Whether a page was shown before this one. */
export const HasNavigatedContext = createContext<RefObject<boolean> | null>(null);

/** The frame of every page: the navigation, the state of the connection, and the content. */
export function Page({
  title,
  crumbs = [],
  live = 'static',
  filled = false,
  listsRuns = false,
  children,
}: PageProps) {
  useEffect(() => {
    document.title = `${title} · mlagentbench`;
  }, [title]);
  const { pathname } = useLocation();
  const hasNavigated = use(HasNavigatedContext);
  // The clicked element is gone with the previous page: focus moves to the new page, not to the window's top.
  // biome-ignore lint/correctness/useExhaustiveDependencies: after each change of the page
  useEffect(() => {
    if (hasNavigated === null) return;
    if (hasNavigated.current && document.activeElement === document.body) focusOn('main');
    hasNavigated.current = true;
  }, [hasNavigated, pathname]);
  return (
    <div className={filled ? 'page page-filled' : 'page'}>
      <button type="button" className="skip" onClick={() => focusOn('main')}>
        To the content
      </button>
      {listsRuns ? (
        <button type="button" className="skip" onClick={() => focusOn('runs', 'tbody a')}>
          To the first run
        </button>
      ) : null}
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

/** @param within what to focus in it, if it exists */
export function focusOn(id: string, within?: string): void {
  const place = document.getElementById(id);
  const target = within === undefined ? null : place?.querySelector<HTMLElement>(within);
  (target ?? place)?.focus({ preventScroll: target == null });
}

const liveWords: Record<Live['state'], string> = {
  static: '',
  open: 'live',
  connecting: 'connecting …',
  lost: 'connection lost, reconnecting …',
  hidden: '',
};

function LiveSign({ state }: { state: Live['state'] }) {
  return (
    <span className={`live live-${state}`} role="status">
      {liveWords[state]}
    </span>
  );
}
