import { Mark } from './mark.tsx';
import { seriesStyle } from './palette.ts';

/** Names with the style of their lines and marks. */
export function Legend({ names, indexOf }: { names: readonly string[]; indexOf: (name: string) => number }) {
  return (
    <ul className="legend">
      {names.map((name) => {
        const style = seriesStyle(indexOf(name));
        return (
          <li key={name}>
            <svg width={34} height={12} aria-hidden="true" className={style.className}>
              <line className="curve" x1={0} x2={34} y1={6} y2={6} strokeDasharray={style.dashes} />
              <Mark shape={style.shape} x={17} y={6} size={44} />
            </svg>
            {name}
          </li>
        );
      })}
    </ul>
  );
}
