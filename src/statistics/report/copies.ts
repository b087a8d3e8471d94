import type { Report, RunEvaluation } from '../../schema/index.ts';
import { inOrder } from './pair-data.ts';

type Copies = NonNullable<Report['copies']>;

/**
 * Each recording once, however often its folder was copied: copies are no independent runs. The one in a folder of its
 * plan's name counts as the original, otherwise the first by name.
 */
export function withoutCopies(evaluations: readonly RunEvaluation[]): {
  evaluations: RunEvaluation[];
  copies: Copies;
} {
  const ordered = inOrder(evaluations);
  const isInPlace = (one: RunEvaluation) => one.planned_in === undefined;
  const originals = new Map<string, RunEvaluation>();
  for (const one of [...ordered.filter(isInPlace), ...ordered.filter((each) => !isInPlace(each))])
    if (one.recording !== undefined && !originals.has(one.recording)) originals.set(one.recording, one);
  const originalOf = (one: RunEvaluation) => originals.get(one.recording ?? '') ?? one;
  const copied = ordered.filter((one) => originalOf(one) !== one);
  const isCopy = new Set(copied);
  const bySource = Map.groupBy(copied, (one) => JSON.stringify([one.experiment, originalOf(one).experiment]));
  const copies = [...bySource].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    evaluations: evaluations.filter((one) => !isCopy.has(one)),
    copies: copies.flatMap(([, runs]): Copies => {
      const [first] = runs;
      if (first === undefined) return [];
      const of = originalOf(first).experiment;
      return [{ experiment: first.experiment, of, runs: runs.map(({ run }) => run).sort() }];
    }),
  };
}
