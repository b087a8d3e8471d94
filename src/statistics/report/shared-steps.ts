import type { RunEvaluation } from '../../schema/index.ts';

/**
 * How many of these runs share steps with others among them, so that they are not independent: forks of these or of the
 * same run, and copies of an interrupted run that were continued apart.
 */
export function runsThatShareSteps(runs: readonly RunEvaluation[]): number {
  const names = new Set(
    runs.flatMap(({ experiment, planned_in: planned = experiment, run }) => [
      nameOf(experiment, run),
      nameOf(planned, run),
    ]),
  );
  const byParent = Map.groupBy(runs, ({ parent }) => parent && nameOf(parent.experiment, parent.run));
  const forks = [...byParent].flatMap(([parent, together]) =>
    parent !== undefined && (names.has(parent) || together.length > 1) ? together : [],
  );
  const byBeginning = Map.groupBy(runs, ({ beginning }) => beginning);
  const continued = [...byBeginning].flatMap(([beginning, together]) =>
    beginning !== undefined && together.length > 1 ? together : [],
  );
  return new Set([...forks, ...continued]).size;
}

function nameOf(experiment: string, run: string): string {
  return `${experiment}/${run}`;
}
