import { onFreshSeeds, rounds, selectionShare } from '../search/fresh-seeds.ts';
import { usedShare } from './pace.ts';
import type { Study } from './study.ts';

/**
 * Measures the starter and the best version on fresh seeds, and goes back to the starter unless the gain exceeds the
 * noise. Returns the outcome as text; empty if there was nothing to select, or no time.
 */
export async function selectFinalist(study: Study): Promise<string> {
  const { workspace, best, starter, noiseTest } = study;
  const before = usedShare(workspace);
  /** Beyond the least number of rounds, only within what the selection may use in total. */
  const mayRun = (done: number) => {
    if (workspace.ended || !study.affordsRound) return false;
    return done < rounds.least || (usedShare(workspace) - before) * ((done + 1) / done) <= selectionShare;
  };
  if (!study.selects || best === starter || !mayRun(0)) return '';
  workspace.note({
    Plan: `I measure the starter and the best version again, in up to ${rounds.most} fresh runs each.`,
    Reason:
      'The best of many tries looks better than it is: what counts is a gain in runs that chose nothing.',
  });
  const selection = await onFreshSeeds(noiseTest, mayRun, async (isBest, raisedBy) => {
    const version = isBest ? best : starter;
    const outcome = await study.runAgain(version, raisedBy);
    const seed =
      noiseTest.secondRun === 'other seeds' ? `With every seed raised by ${raisedBy}` : 'Run once more';
    const seen = outcome.kind === 'measured' ? outcome.score : 'a failure';
    workspace.note({ Observed: `${seed}: ${isBest ? 'the best version' : 'the starter'} ${seen}.` });
    if (outcome.kind === 'measured') return outcome.score;
    // Beside other work, a run may take far longer than before, which says nothing about its score.
    return outcome.timedOut ? null : 'failed';
  });
  if (selection === null) return '';
  const { isBetter, pairs } = selection;
  if (!isBetter) study.goBack();
  const said = isBetter
    ? `In fresh runs the best version scored ${listed(pairs.map(([, score]) => score))}; the starter ${listed(pairs.map(([score]) => score))}.`
    : 'In fresh runs no version was better than the starter by more than the noise, so the starter stays.';
  workspace.note({ Decision: said });
  return said;
}

/** As they were printed, so that each can be found in the output again. */
function listed(scores: readonly number[]): string {
  return new Intl.ListFormat('en').format(scores.map(String));
}
