import type { Budget } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import type { NoiseTest } from '../search/noise-test.ts';
import { type Candidate, sourceOf } from './candidate.ts';
import { maxForSelection, rounds } from './savings.ts';
import type { Study } from './study.ts';
import type { Outcome, TrialRunner } from './trial.ts';

/** The first fresh seed: the search has used the starter's own and the next one. */
const firstFresh = 2;

interface Finalist {
  candidate: Candidate;
  /** How much it was better than the starter, on each fresh seed. */
  gains: number[];
  /** Its scores there, and the starter's. */
  scores: number[];
  starters: number[];
  hasFailed: boolean;
}

/**
 * Measures the starter and the finalists on fresh seeds, and chooses the finalist with the largest gain among those
 * that exceed the noise, or the starter if there is none. Returns the outcome as text; empty if there was nothing to
 * select, or no time.
 */
export async function selectFinalist(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
): Promise<string> {
  const { noiseTest } = study;
  if (noiseTest === null || !study.selects || workspace.ended) return '';
  const start = workspace.budget;
  const finalists = finalistsOf(study, start);
  if (!mayGoOn(study, finalists, 0, start, start)) return '';
  workspace.note({
    Plan: `I measure the starter and ${versions(finalists.length)} again, in up to ${rounds.most} fresh runs each.`,
    Reason:
      'The best of many tries looks better than it is: what counts is a gain in runs that chose nothing.',
  });
  let done = 0;
  while (mayGoOn(study, finalists, done, start, workspace.budget)) {
    const isMeasured = await runRound(workspace, runner, study, noiseTest, finalists, firstFresh + done);
    if (!isMeasured) break;
    done += 1;
  }
  return done === 0 ? '' : settle(workspace, study, noiseTest, finalists);
}

/** The second finalist is left out if it would not leave enough rounds. */
function finalistsOf(study: Study, budget: Budget): Finalist[] {
  const finalists = study.finalists.map((candidate) => ({
    ...{ candidate, gains: [], scores: [], starters: [], hasFailed: false },
  }));
  return affordsRounds(study, finalists, rounds.least, budget) ? finalists : finalists.slice(0, 1);
}

function affordsRounds(study: Study, finalists: readonly Finalist[], count: number, budget: Budget): boolean {
  const slowest = Math.max(study.starter.seconds, ...finalists.map(({ candidate }) => candidate.seconds));
  return study.pace.affords(slowest, count * (finalists.length + 1), study.best.seconds, budget);
}

/** Beyond the minimum of rounds, only within what the selection may use in total. */
function mayGoOn(
  study: Study,
  finalists: readonly Finalist[],
  done: number,
  start: Budget,
  now: Budget,
): boolean {
  if (finalists.every(({ hasFailed }) => hasFailed) || done >= rounds.most) return false;
  if (!affordsRounds(study, finalists, 1, now)) return false;
  const share = (done + 1) / Math.max(done, 1);
  const { seconds, steps } = maxForSelection(now);
  return (
    done < rounds.least ||
    ((now.seconds_used - start.seconds_used) * share <= seconds &&
      (now.steps_used - start.steps_used) * share <= steps)
  );
}

/** Measures all on one fresh seed. False: the starter gave no score, so nothing can be compared. */
async function runRound(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  noiseTest: NoiseTest,
  finalists: readonly Finalist[],
  raisedBy: number,
): Promise<boolean> {
  const starter = await runAgain(workspace, runner, study, study.starter, raisedBy);
  if (starter.kind === 'failed') return false;
  const seen = [`starter ${starter.score}`];
  for (const finalist of finalists) {
    if (finalist.hasFailed || workspace.ended) continue;
    const outcome = await runAgain(workspace, runner, study, finalist.candidate, raisedBy);
    if (outcome.kind === 'failed') finalist.hasFailed = true;
    else {
      finalist.gains.push(noiseTest.gain(outcome.score, starter.score));
      finalist.scores.push(outcome.score);
      finalist.starters.push(starter.score);
    }
    seen.push(scoreOf(outcome));
  }
  const how =
    noiseTest.secondRun === 'other seeds' ? `With every seed raised by ${raisedBy}` : 'Run once more';
  workspace.note({ Observed: `${how}: ${seen.join(', ')}.` });
  return true;
}

function runAgain(
  workspace: Workspace,
  runner: TrialRunner,
  { pace, best }: Study,
  candidate: Candidate,
  raisedBy: number,
): Promise<Outcome> {
  const limit = pace.limitOf(candidate.seconds, best.seconds, workspace.budget);
  return runner.run(sourceOf(candidate, raisedBy), limit);
}

function settle(
  workspace: Workspace,
  study: Study,
  noiseTest: NoiseTest,
  finalists: readonly Finalist[],
): string {
  const [chosen] = finalists
    .filter(({ gains, hasFailed }) => !hasFailed && noiseTest.isBeyondNoise(gains))
    .sort((left, right) => meanOf(right.gains) - meanOf(left.gains));
  study.settle(chosen?.candidate ?? study.starter);
  const said =
    chosen === undefined
      ? 'In fresh runs no version was better than the starter by more than the noise, so the starter stays.'
      : `In fresh runs the best version scored ${listed(chosen.scores)}; the starter ${listed(chosen.starters)}.`;
  workspace.note({ Decision: said });
  return said;
}

function versions(count: number): string {
  return count === 1 ? 'the best version' : 'the two best versions';
}

function scoreOf(outcome: Outcome): string {
  return outcome.kind === 'failed' ? 'a failure' : String(outcome.score);
}

/** As they were printed, so that each can be found in the output again. */
function listed(scores: readonly number[]): string {
  return new Intl.ListFormat('en').format(scores.map(String));
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
