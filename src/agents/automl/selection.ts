import type { Workspace } from '../common/workspace.ts';
import { rounds, selectionShare, usedShare } from './pace.ts';
import type { Study } from './study.ts';

/** The first fresh seed: the search has used the starter's own and the next one. */
const firstFresh = 2;

/** The scores of both on one fresh seed. */
interface Pair {
  starter: number;
  best: number;
}

/**
 * Measures the starter and the best version on fresh seeds, and goes back to the starter unless the gain exceeds the
 * noise. Returns the outcome as text; empty if there was nothing to select, or no time.
 */
export async function selectFinalist(workspace: Workspace, study: Study): Promise<string> {
  const { best, starter, noiseTest } = study;
  const affordsRound = roundsOf(workspace, study);
  if (!study.selects || best === starter || !affordsRound(0)) return '';
  workspace.note({
    Plan: `I measure the starter and the best version again, in up to ${rounds.most} fresh runs each.`,
    Reason:
      'The best of many tries looks better than it is: what counts is a gain in runs that chose nothing.',
  });
  const pairs: Pair[] = [];
  let hasFailed = false;
  while (!hasFailed && affordsRound(pairs.length)) {
    const raisedBy = firstFresh + pairs.length;
    const base = await study.runAgain(starter, raisedBy);
    // Without the starter's score, nothing can be compared.
    if (base.kind === 'failed') break;
    const outcome = await study.runAgain(best, raisedBy);
    // Beside other work, a run may take far longer than before, which says nothing about its score.
    if (outcome.kind === 'failed' && outcome.timedOut) break;
    hasFailed = outcome.kind === 'failed';
    if (outcome.kind === 'measured') pairs.push({ starter: base.score, best: outcome.score });
    const seed =
      noiseTest.secondRun === 'other seeds' ? `With every seed raised by ${raisedBy}` : 'Run once more';
    const seen = outcome.kind === 'measured' ? outcome.score : 'a failure';
    workspace.note({ Observed: `${seed}: starter ${base.score}, ${seen}.` });
  }
  if (pairs.length === 0 && !hasFailed) return '';
  const gains = pairs.map((pair) => noiseTest.gain(pair.best, pair.starter));
  const isBetter = !hasFailed && noiseTest.isBeyondNoise(gains);
  if (!isBetter) study.goBack();
  const said = isBetter
    ? `In fresh runs the best version scored ${listed(pairs.map((pair) => pair.best))}; the starter ${listed(pairs.map((pair) => pair.starter))}.`
    : 'In fresh runs no version was better than the starter by more than the noise, so the starter stays.';
  workspace.note({ Decision: said });
  return said;
}

/** Whether one more round is possible; beyond the least number, only within what the selection may use in total. */
function roundsOf(workspace: Workspace, study: Study): (done: number) => boolean {
  const before = usedShare(workspace);
  return (done) => {
    if (workspace.ended || done >= rounds.most || !study.affordsRound) return false;
    const used = (usedShare(workspace) - before) * ((done + 1) / done);
    return done < rounds.least || used <= selectionShare;
  };
}

/** As they were printed, so that each can be found in the output again. */
function listed(scores: readonly number[]): string {
  return new Intl.ListFormat('en').format(scores.map(String));
}
