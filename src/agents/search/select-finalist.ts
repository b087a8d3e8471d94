import type { Allotment } from './branch-view.ts';
import type { Evaluator } from './evaluator.ts';
import { onFreshSeeds, rounds } from './fresh-seeds.ts';
import type { NoiseTest } from './noise-test.ts';
import type { Attempt, SearchTree } from './search-tree.ts';

/** The runs of a round: of the best version and of the one that it is compared with. */
const runsOfRound = 2;
/** A lead of this many times the noise needs no further runs. */
const clearLead = 5;

/** The least that the selection needs, in runs of scripts and in steps: each script is written before its run. */
export const selectionNeeds = { runs: rounds.least * runsOfRound, steps: 2 * rounds.least * runsOfRound + 1 };

/** Whether the lead of the best version over the reference may be luck. */
export function needsSelection({ best }: SearchTree, reference: Attempt, noiseTest: NoiseTest): boolean {
  if (best?.measured == null || best === reference || reference.measured === null) return false;
  const lead = noiseTest.pairedGain(best.measured.evidence, reference.measured.evidence);
  return lead <= clearLead * noiseTest.threshold;
}

/**
 * Measures the best version and the one that it is compared with in pairs of runs, on seeds that were not used for any
 * choice, and takes the best one only if its gain is beyond the noise.
 */
export async function selectFinalist(
  { best, slowest }: SearchTree,
  reference: Attempt,
  evaluator: Evaluator,
  left: () => Allotment,
): Promise<{ chosen: Attempt; said: string } | null> {
  if (best === null) return null;
  const mayRun = () => left().seconds >= roundSeconds(slowest) && left().steps >= 2 * runsOfRound + 1;
  const found = await onFreshSeeds(evaluator.noiseTest, mayRun, async (isBest, raisedBy) => {
    return (await evaluator.again(isBest ? best : reference, raisedBy, left())) ?? 'failed';
  });
  if (found === null) return null;
  const { gains, hasFailed, isBetter } = found;
  const outcome = hasFailed ? 'failed' : `gained ${gains.map((gain) => gain.toPrecision(3)).join(', ')}`;
  return {
    chosen: isBetter ? best : reference,
    said: `On fresh seeds, against ${reference.id}: ${best.id} ${outcome}.`,
  };
}

/** The time that a round may take, if the slower version takes so many seconds. */
export function roundSeconds(slowest: number): number {
  return 1.5 * runsOfRound * slowest + 2;
}
