import { rounds, selectionShare } from '../search/fresh-seeds.ts';
import type { Study } from './study.ts';

/**
 * Measures the first version and the best one on fresh seeds, and goes back to the first unless the gain exceeds the
 * noise. Returns the outcome as text; empty if there was nothing to select, or no time.
 */
export async function selectFinalist(study: Study): Promise<string> {
  const { workspace, best, first, noise, trials } = study;
  const { pace, tree } = trials;
  const before = pace.used;
  /** Beyond the least number of rounds, only within what the selection may use in total. */
  const mayRun = (done: number) => {
    if (workspace.ended || !pace.affords(Math.max(first.measured.seconds, best.measured.seconds), 2))
      return false;
    return done < rounds.least || (pace.used - before) * ((done + 1) / done) <= selectionShare;
  };
  if (!study.selects || best === first || !mayRun(0)) return '';
  workspace.note({
    Plan: `I measure versions ${first.id} and ${best.id} again, in up to ${rounds.most} fresh runs each.`,
    Reason:
      'The best of many tries looks better than it is: what counts is a gain in runs that chose nothing.',
  });
  const compared = await noise.compare(first, best, mayRun);
  if (compared === null) return '';
  if (!compared.isBetter) {
    tree.take(first);
    tree.record(first);
  }
  workspace.note({ Decision: compared.said });
  return compared.said;
}
