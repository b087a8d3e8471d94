import type { EventOf } from '../schema/index.ts';
import { type SkippedEntry, type SnapshotSummary, showPath } from '../store/index.ts';

const maxListed = 20;
const maxReported = 5;
const maxRemembered = 10_000;
const longestPath = 200;

const words: Partial<Record<SkippedEntry['reason'], string>> = {
  too_large: 'more than the workspace may hold',
  too_deep: 'too deep in folders',
  too_many: 'too many files',
};

/** Files of the workspace that are missing in a snapshot, for the trace; empty if there are none. */
export function skippedInTrace({
  skipped,
  skippedCount,
}: Pick<SnapshotSummary, 'skipped' | 'skippedCount'>): Pick<
  EventOf<'step_finished'>,
  'skipped' | 'skipped_count'
> {
  if (skippedCount === 0) return {};
  const listed = skipped.slice(0, maxListed).map(({ path, reason }) => ({ path: shortened(path), reason }));
  return { skipped: listed, skipped_count: skippedCount };
}

/** Tells the agent once about each file that will be missing in grading. */
export class SkippedNotice {
  readonly #reported = new Set<string>();

  notice(skipped: readonly SkippedEntry[]): string {
    const unreported = skipped.filter(
      ({ path, reason }) => words[reason] !== undefined && !this.#reported.has(path),
    );
    if (unreported.length === 0) return '';
    for (const { path } of unreported) if (this.#reported.size < maxRemembered) this.#reported.add(path);
    const names = unreported
      .slice(0, maxReported)
      .map(({ path, reason }) => `${showPath(shortened(path))} (${words[reason]})`);
    const more = unreported.length > maxReported ? ` and ${unreported.length - maxReported} more` : '';
    return `\n[Not kept in the record of the run, so neither graded nor there after it is resumed: ${names.join(', ')}${more}.]`;
  }
}

function shortened(path: string): string {
  return path.length <= longestPath ? path : `${path.slice(0, longestPath)}…`;
}
