import type { RunEvaluation } from '../../schema/index.ts';

/** How many of these runs are forks of others among them, or of the same run: they share steps, so they are not independent. */
export function forksAmong(runs: readonly RunEvaluation[]): number {
  const names = new Set(
    runs.flatMap(({ experiment, planned_in: planned = experiment, run }) => [
      nameOf(experiment, run),
      nameOf(planned, run),
    ]),
  );
  const forks = Map.groupBy(
    runs.filter(({ parent }) => parent !== undefined),
    ({ parent }) => (parent === undefined ? '' : nameOf(parent.experiment, parent.run)),
  );
  const counts = [...forks].map(([parent, together]) =>
    names.has(parent) || together.length > 1 ? together.length : 0,
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

function nameOf(experiment: string, run: string): string {
  return `${experiment}/${run}`;
}
