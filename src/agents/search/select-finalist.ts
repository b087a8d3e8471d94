import type { Allotment } from './branch-view.ts';
import type { Evaluator } from './evaluator.ts';
import { scoreOf } from './policies.ts';
import type { Attempt, SearchTree } from './search-tree.ts';

/** The number of fresh seeds on which finalists are measured. The search has used the first two. */
const rounds = { first: 2, least: 2, most: 5 };
const maxFinalists = 2;

/** The least that the selection needs, in runs of scripts and in steps: each script is written before its run. */
export function selectionNeeds(finalists: number): { runs: number; steps: number } {
  const runs = rounds.least * (finalists + 1);
  return { runs, steps: 2 * runs + 1 };
}

/**
 * Measures the best versions and the one that they are compared with in pairs of runs, on seeds that were not used for
 * any choice. Takes the version with the largest gain beyond the noise, or the one that they are compared with if there
 * is none.
 */
export async function selectFinalist(
  tree: SearchTree,
  reference: Attempt,
  evaluator: Evaluator,
  left: () => Allotment,
  slowest: number,
): Promise<{ chosen: Attempt; said: string } | null> {
  const { noiseTest } = evaluator;
  const best = tree.best;
  if (best === null || best === reference || !evaluator.measuresNoise) return null;
  const finalists = tree.measured
    .filter(
      (one) => one !== reference && noiseTest.gain(scoreOf(one), scoreOf(reference)) > noiseTest.threshold,
    )
    .sort((one, other) => noiseTest.gain(scoreOf(other), scoreOf(one)) || one.id - other.id)
    .slice(0, maxFinalists)
    .map((attempt) => ({ attempt, gains: [] as number[], hasFailed: false }));
  let done = 0;
  for (; done < rounds.most && finalists.some(({ hasFailed }) => !hasFailed); done += 1) {
    if (!affordsRound(left(), finalists.length + 1, slowest)) break;
    const base = await evaluator.again(reference, rounds.first + done, left());
    if (base === null) break;
    for (const finalist of finalists.filter(({ hasFailed }) => !hasFailed)) {
      const score = await evaluator.again(finalist.attempt, rounds.first + done, left());
      if (score === null) finalist.hasFailed = true;
      else finalist.gains.push(noiseTest.gain(score, base));
    }
  }
  if (done === 0) return null;
  const [chosen] = finalists
    .filter(({ gains, hasFailed }) => !hasFailed && gains.length > 0 && noiseTest.isBeyondNoise(gains))
    .sort((one, other) => meanOf(other.gains) - meanOf(one.gains));
  const said = finalists
    .map(({ attempt, gains, hasFailed }) =>
      hasFailed
        ? `${attempt.id} failed`
        : `${attempt.id} gained ${gains.map((gain) => gain.toPrecision(3)).join(', ')}`,
    )
    .join('; ');
  return { chosen: chosen?.attempt ?? reference, said: `On fresh seeds, against ${reference.id}: ${said}.` };
}

function affordsRound({ seconds, steps }: Allotment, runs: number, slowest: number): boolean {
  return seconds >= 1.5 * runs * slowest + 2 && steps >= 2 * runs + 1;
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
