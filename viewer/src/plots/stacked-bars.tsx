import type { RunFilter } from '../report/report-context.tsx';
import { RunsLink } from '../report/runs-link.tsx';

export interface BarPart {
  name: string;
  /** The class of the style sheet for its colour and pattern. */
  className: string;
  value: number;
  /** The value in words. */
  shown: string;
  filter: RunFilter;
}

/** A bar of parts for each name; all on the same scale, or each filling the width. */
export function StackedBars({
  bars,
  most,
}: {
  bars: readonly { name: string; note: string; parts: readonly BarPart[] }[];
  /** The value that fills the width. */
  most: number;
}) {
  const named = new Map(bars.flatMap(({ parts }) => parts).map(({ name, className }) => [name, className]));
  return (
    <div className="bars">
      {bars.map(({ name, note, parts }) => (
        <div key={name}>
          <div className="bar-name">
            <span>{name}</span>
            <span className="quiet">{note}</span>
          </div>
          <div className="bar">
            {parts
              .filter(({ value }) => value > 0)
              .map((part) => (
                <RunsLink
                  key={part.name}
                  filter={part.filter}
                  className="bar-part"
                  label={`${name}: ${part.name} ${part.shown}`}
                  width={part.value / most}
                >
                  <span className={`bar-fill ${part.className}`} title={`${part.name}: ${part.shown}`} />
                </RunsLink>
              ))}
          </div>
        </div>
      ))}
      <ul className="legend">
        {[...named].map(([name, className]) => (
          <li key={name}>
            <span className={`swatch ${className}`} aria-hidden="true" />
            {name}
          </li>
        ))}
      </ul>
    </div>
  );
}
