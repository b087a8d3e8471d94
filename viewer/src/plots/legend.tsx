import { Mark } from './mark.tsx';
import { lookOf } from './palette.ts';

/** Names with the style of their lines and marks. */
export function Legend({ names, indexOf }: { names: readonly string[]; indexOf: (name: string) => number }) {
  return (
    <ul className="legend">
      {names.map((name) => {
        const look = lookOf(indexOf(name));
        return (
          <li key={name}>
            <svg width={34} height={12} aria-hidden="true" className={look.className}>
              <line className="curve" x1={0} x2={34} y1={6} y2={6} strokeDasharray={look.dashes} />
              <Mark shape={look.shape} x={17} y={6} size={44} />
            </svg>
            {name}
          </li>
        );
      })}
    </ul>
  );
}
