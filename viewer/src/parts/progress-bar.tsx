import { showCount, showPlural } from '../format/numbers.ts';

const order = ['finished', 'failed', 'interrupted', 'waiting', 'running', 'pending'] as const;

/** Runs by status, as a bar and in words. */
export function ProgressBar({
  statuses,
  total,
}: {
  statuses: Partial<Record<string, number>>;
  total: number;
}) {
  const parts = order
    .map((status) => ({ status, count: statuses[status] ?? 0 }))
    .filter(({ count }) => count > 0);
  const words = parts.map(({ status, count }) => `${showCount(count)} ${status}`).join(', ');
  return (
    <span className="progress">
      <span className="progress-bar" aria-hidden="true">
        {parts.map(({ status, count }) => (
          <span
            key={status}
            className={`progress-${status}`}
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
