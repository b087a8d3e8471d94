import { showCount, showPlural } from '../format/numbers.ts';

const order = ['finished', 'failed', 'interrupted', 'cancelled', 'waiting', 'running', 'starting', 'queued'];

/** The numbers of runs by state, as a bar and in words. */
export function ProgressBar({ states, total }: { states: Partial<Record<string, number>>; total: number }) {
  const parts = order.map((state) => ({ state, count: states[state] ?? 0 })).filter(({ count }) => count > 0);
  const words = parts.map(({ state, count }) => `${showCount(count)} ${state}`).join(', ');
  return (
    <span className="progress">
      <span className="progress-bar" aria-hidden="true">
        {parts.map(({ state, count }) => (
          <span
            key={state}
            className={`progress-${state}`}
            style={{ width: `${(count / Math.max(1, total)) * 100}%` }}
          />
        ))}
      </span>
      <span>
        {showPlural(total, 'run')}
        {words === '' ? '' : `: ${words}`}
      </span>
    </span>
  );
}
