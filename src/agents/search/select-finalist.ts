import type { Allotment } from './branch-view.ts';
import type { Evaluator } from './evaluator.ts';
import type { NoiseTest } from './noise-test.ts';
import type { Attempt, SearchTree } from './search-tree.ts';

/** The number of fresh seeds on which the best version is measured. The search has used the first two. */
const rounds = { first: 2, least: 2, most: 5 };
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
  { best }: SearchTree,
  reference: Attempt,
  evaluator: Evaluator,
  left: () => Allotment,
  slowest: number,
): Promise<{ chosen: Attempt; said: string } | null> {
  if (best === null) return null;
  const gains: number[] = [];
  let hasFailed = false;
  while (gains.length < rounds.most && !hasFailed && affordsRound(left(), slowest)) {
    const base = await evaluator.again(reference, rounds.first + gains.length, left());
    if (base === null) break;
    const score = await evaluator.again(best, rounds.first + gains.length, left());
    if (score === null) hasFailed = true;
    else gains.push(evaluator.noiseTest.gain(score, base));
  }
  if (gains.length === 0 && !hasFailed) return null;
  const isBetter = !hasFailed && evaluator.noiseTest.isBeyondNoise(gains);
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

function affordsRound({ seconds, steps }: Allotment, slowest: number): boolean {
  return seconds >= roundSeconds(slowest) && steps >= 2 * runsOfRound + 1;
}
