import type { Report, RunEvaluation } from '../../schema/index.ts';
import { inOrder } from './pair-data.ts';

type Copies = NonNullable<Report['copies']>;

/**
 * Each recording once, however often its folder was copied: copies are no independent runs. The one in a folder of its
 * plan's name counts as the original, otherwise the first by name. A copy of an attempt that was discarded elsewhere is
 * a copy of the run that replaced it.
 */
export function withoutCopies(evaluations: readonly RunEvaluation[]): {
  evaluations: RunEvaluation[];
  copies: Copies;
} {
  const ordered = inOrder(evaluations);
  const isInPlace = (one: RunEvaluation) => one.planned_in === undefined;
  const inPlaceFirst = [...ordered.filter(isInPlace), ...ordered.filter((one) => !isInPlace(one))];
  const originals = firstBy(inPlaceFirst, ({ recording }) => (recording === undefined ? [] : [recording]));
  const replacements = firstBy(inPlaceFirst, ({ replaced = [] }) => replaced);
  const originalOf = (one: RunEvaluation) => {
    const { recording = '' } = one;
    return (isInPlace(one) ? undefined : replacements.get(recording)) ?? originals.get(recording) ?? one;
  };
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

/** The first evaluation with each recording. */
function firstBy(
  evaluations: readonly RunEvaluation[],
  recordingsOf: (one: RunEvaluation) => readonly string[],
): Map<string, RunEvaluation> {
  const found = new Map<string, RunEvaluation>();
  for (const one of evaluations)
    for (const recording of recordingsOf(one)) if (!found.has(recording)) found.set(recording, one);
  return found;
}
