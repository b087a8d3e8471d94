import { type HeldOutRows, told } from './held-out-rows.ts';
import type { NoiseTest } from './noise-test.ts';
import { scoreOf } from './policies.ts';
import { type Attempt, lineage, type SearchTree } from './search-tree.ts';

/** The number of versions, besides the best one, that may be averaged with it. */
const mostPartners = 2;

interface Means {
  heldOut: HeldOutRows;
  noiseTest: NoiseTest;
  /** Whether there is time for one more run of each of two versions. */
  mayRun: () => boolean;
}

/**
 * On rows that decided nothing before: the best version, if its gain over the reference exceeds one standard error; if so,
 * its mean with versions of other kinds, if that is better than it alone. Null if it can't be measured.
 */
export async function selectHeldOut(
  tree: SearchTree,
  reference: Attempt,
  means: Means,
): Promise<{ chosen: Attempt; said: string } | null> {
  const { best } = tree;
  if (best === null || best === reference) return null;
  const gain = await means.heldOut.atEnd(best, reference, means.mayRun);
  if (gain === null) return null;
  const said = `On withheld rows that had decided nothing, ${best.id} gained ${told(gain)} over ${reference.id}.`;
  if (gain.gain <= gain.error) return { chosen: reference, said };
  const ensemble = await averageWithOthers(tree, best, means);
  return ensemble === null ? { chosen: best, said } : { ...ensemble, said: `${said} ${ensemble.said}` };
}

/** Null if no mean is better than the best version alone, or if its submission can't be made. */
async function averageWithOthers(
  tree: SearchTree,
  best: Attempt,
  { heldOut, noiseTest, mayRun }: Means,
): Promise<{ chosen: Attempt; said: string } | null> {
  const others = tree.measured
    .filter((one) => one.status === 'kept' && !lineage(best).includes(one) && !lineage(one).includes(best))
    .toSorted((one, other) => noiseTest.gain(scoreOf(other), scoreOf(one)))
    .slice(0, mostPartners);
  const found = await heldOut.partners(best, others, mayRun);
  if (found === null) return null;
  const { members, gain } = found;
  const names = [best, ...members].map(({ id }) => id).join(', ');
  const attempt = tree.begin('ensemble', best, {
    why: 'they are better together',
    other: members[0] ?? null,
  });
  attempt.change = `the mean of what versions ${names} predict`;
  attempt.view = await heldOut.average(best, members);
  if (attempt.view === null) {
    tree.finish(attempt, 'failed', 'its submission could not be made, or was not accepted');
    tree.record(attempt);
    return null;
  }
  attempt.measured = best.measured;
  const said = `The mean of ${names} gained ${told(gain)} over ${best.id}.`;
  tree.finish(attempt, 'kept', said);
  return { chosen: attempt, said };
}
