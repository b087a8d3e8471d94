import type { Report } from '../../../src/schema/index.ts';
import { showPlural } from '../format/numbers.ts';
import { Notice } from '../parts/states.tsx';

/** Says which runs are left out because the report has them already. */
export function CopiedRuns({ copies }: { copies: NonNullable<Report['copies']> }) {
  if (copies.length === 0) return null;
  return (
    <Notice kind="warning">
      {copies
        .map(
          ({ experiment, of, runs }) =>
            `${experiment} is a copy of ${of}: ${showPlural(runs.length, 'run')} in both, counted once.`,
        )
        .join(' ')}
    </Notice>
  );
}
