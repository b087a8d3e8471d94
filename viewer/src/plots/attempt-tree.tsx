import { Link } from 'react-router';
import type { ReportAttempt } from '../../../src/schema/index.ts';
import { showPlural, showScore, showShare } from '../format/numbers.ts';
import { attemptFrame as frame, pathToFinal, placesOf } from './attempt-layout.ts';
import { BottomAxis, LeftAxis } from './axes.tsx';
import { Mark } from './mark.tsx';
import type { MarkShape } from './palette.ts';
import { NumbersTable, type PlotTable } from './plot-card.tsx';
import { PlotSvg } from './plot-svg.tsx';

interface Props {
  attempts: readonly ReportAttempt[];
  /** The page of an attempt; null if it has none. */
  hrefOf?: (attempt: number) => string | null;
}

const shapes: Record<ReportAttempt['status'], MarkShape> = {
  ...{ kept: 'circle', dropped: 'square', failed: 'cross', pending: 'diamond' },
};

/** What to read in the picture. */
export const treeExplanation =
  'Every version that the agent tried, in order, at the score that its script printed (or that the search corrected), joined with the version that it was made from. The thick line leads to the one that was chosen in the end. Versions without a score are at the bottom.';

/** All versions that a search tried, as a tree. */
export function AttemptTree({ attempts, hrefOf = () => null }: Props) {
  const places = placesOf(attempts);
  const byId = new Map(attempts.map((attempt) => [attempt.id, attempt]));
  const path = pathToFinal(attempts);
  return (
    <>
      <PlotSvg
        width={frame.width}
        height={frame.height}
        label={`tree of ${showPlural(attempts.length, 'attempt')}`}
      >
        <LeftAxis scale={places.y} show={showScore} label="score" frame={frame} />
        <BottomAxis
          scale={places.x}
          show={showWhole}
          label="attempt"
          frame={frame}
          ticks={Math.min(6, attempts.length)}
        />
        {attempts.map((attempt) => {
          const { id, parent } = attempt;
          const from = parent === null ? undefined : byId.get(parent);
          if (from === undefined) return null;
          const [a, b] = [places.of(from), places.of(attempt)];
          const className = path.has(id) && path.has(from.id) ? 'attempt-edge on-path' : 'attempt-edge';
          return <line key={id} className={className} x1={a.x} y1={a.y} x2={b.x} y2={b.y} />;
        })}
        {attempts.map((attempt) => (
          <AttemptMark key={attempt.id} attempt={attempt} at={places.of(attempt)} href={hrefOf(attempt.id)} />
        ))}
      </PlotSvg>
      <ul className="legend">
        {statusesOf(attempts).map(([status, count]) => (
          <li key={status}>
            <svg width={14} height={12} aria-hidden="true" className={`attempt-${status}`}>
              <Mark shape={shapes[status]} x={7} y={6} size={44} />
            </svg>
            {status}: {count}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The same as numbers, and what each version changes. */
export function AttemptTable({ attempts }: { attempts: readonly ReportAttempt[] }) {
  return (
    <details className="plot-data">
      <summary>All attempts</summary>
      <NumbersTable {...attemptTable(attempts)} label="attempts" />
    </details>
  );
}

export function attemptTable(attempts: readonly ReportAttempt[]): PlotTable {
  return {
    columns: ['attempt', 'made from', 'how', 'change', 'outcome', 'score', 'share of the limits'],
    rows: attempts.map((attempt) => [
      String(attempt.id),
      attempt.parent === null ? '–' : String(attempt.parent),
      attempt.operator,
      attempt.change,
      attempt.is_final ? `${attempt.status}, chosen` : attempt.status,
      showScore(attempt.score),
      showShare(attempt.cost),
    ]),
  };
}

function AttemptMark({
  attempt,
  at,
  href,
}: {
  attempt: ReportAttempt;
  at: { x: number; y: number };
  href: string | null;
}) {
  const { status, is_final: isFinal } = attempt;
  const words = wordsOf(attempt);
  const drawn = (
    <g className={`attempt-${status}`}>
      <title>{words}</title>
      {isFinal ? <circle className="ring" cx={at.x} cy={at.y} r={9} /> : null}
      <Mark shape={shapes[status]} x={at.x} y={at.y} size={isFinal ? 80 : 44} />
    </g>
  );
  if (href === null) return drawn;
  return (
    <Link to={href} aria-label={words}>
      {drawn}
    </Link>
  );
}

/** A short axis also has halves. */
function showWhole(value: number): string {
  return Number.isInteger(value) ? String(value) : '';
}

function wordsOf({
  id,
  parent,
  operator,
  status,
  change,
  score,
  cost,
  is_final: isFinal,
}: ReportAttempt): string {
  const from = parent === null ? '' : ` of ${parent}`;
  const outcome = score === null ? status : `${status}, score ${showScore(score)}`;
  return `Attempt ${id}, ${operator}${from}: ${change} (${outcome}, ${showShare(cost)} of the limits${isFinal ? ', chosen' : ''})`;
}

function statusesOf(attempts: readonly ReportAttempt[]): [ReportAttempt['status'], number][] {
  const counts = new Map<ReportAttempt['status'], number>();
  for (const { status } of attempts) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts];
}
