import { evaluateRun } from '../evaluation/index.ts';
import { hasCode } from '../lib/errors.ts';
import type { Experiment } from '../store/index.ts';

/**
 * Of runs that can't be read, those that a newer mlab wrote: they are not damaged.
 * @param unreadable by experiment and id, as of `evaluationsOf`
 */
export function newerRuns(experiments: readonly Experiment[], unreadable: readonly string[]): string[] {
  if (unreadable.length === 0) return [];
  const newer = experiments.flatMap((experiment) =>
    [...experiment.plan.runs, ...experiment.readableBranches().map(({ run }) => run)]
      .filter(({ id }) => unreadable.includes(`${experiment.name}/${id}`))
      .filter((spec) => isNewer(() => evaluateRun(experiment.runFolder(spec.id), spec)))
      .map(({ id }) => `${experiment.name}/${id}`),
  );
  return unreadable.filter((name) => newer.includes(name));
}

function isNewer(read: () => unknown): boolean {
  try {
    read();
    return false;
  } catch (error) {
    return hasCode(error, 'future_version');
  }
}
