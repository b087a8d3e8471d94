import type { Workspace } from '../common/workspace.ts';
import type { Evidence } from '../search/noise-test.ts';
import { sourceOf } from './candidate.ts';
import { type Study, short } from './study.ts';
import type { Outcome, TrialRunner } from './trial.ts';

/** Submits the results of the script, and says why nothing was tuned. `filled`: how a missing model was written. */
export async function answerWithoutSearch(
  workspace: Workspace,
  starter: Outcome,
  why: string,
  filled?: string,
): Promise<void> {
  if (workspace.ended) return;
  workspace.note({ Decision: `I cannot tune this script: ${why}. I submit what it left.` });
  const check = await checkSubmission(workspace);
  const ran = starter.kind === 'measured' ? `it printed "${starter.line}"` : starter.why;
  const first = filled ?? `I ran ${workspace.task.entry} unchanged: ${ran}.`;
  await workspace.finalAnswer(`${first} I tuned nothing, because ${why}. ${check.sentence}`);
}

/** What the answer contains besides the scores. */
export interface Told {
  /** The result of measuring the best versions again. */
  selection: string;
  /** Why no number was changed; null if some were tried. */
  whyNoSearch: string | null;
  /** How a missing model was written. */
  filled: string | undefined;
}

/** Leaves the best version in place, newly run and checked, and answers with the measurements. */
export async function answerWithBest(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  { selection, whyNoSearch, filled }: Told,
): Promise<void> {
  if (workspace.ended) return;
  const origin = filled === undefined ? 'the starter' : 'the version first written';
  let last = await restore(workspace, runner, study, study.bestSource);
  let check = await checkSubmission(workspace);
  const isBroken = last.kind === 'failed' || check.isRefused;
  if (isBroken && study.changes.length > 0 && canRun(workspace, runner, study, sourceOf(study.starter))) {
    const again = await runner.run(sourceOf(study.starter));
    const observed =
      again.kind === 'measured' ? `printed "${again.line}"` : `did not go through: ${again.why}`;
    workspace.note({
      Observed: `The best version is of no use in the end: ${last.sentence} ${check.sentence}`,
      Decision: `I went back to ${origin}, which ${observed}.`,
    });
    check = await checkSubmission(workspace);
    last = { kind: again.kind, sentence: `I went back to ${origin} in the end, and it ${observed}.` };
  }
  await workspace.finalAnswer(
    [
      ...(filled === undefined ? [] : [filled]),
      `${filled === undefined ? 'Starter' : 'As written'}: ${measured(workspace, study.starter.evidence)}.`,
      selection,
      whatChanged(workspace, study, whyNoSearch),
      `Versions tried: ${study.tally.tried}; kept: ${study.tally.kept}; failed: ${study.tally.failed}.`,
      last.sentence,
      check.sentence,
      "The numbers are the script's own measurements.",
    ]
      .filter((sentence) => sentence !== '')
      .join(' '),
  );
}

function whatChanged(workspace: Workspace, study: Study, whyNoSearch: string | null): string {
  if (whyNoSearch !== null && study.tally.tried + study.tally.kept === 0)
    return `I tried no change: ${whyNoSearch}`;
  if (study.changes.length === 0)
    return 'No change was better by more than the noise, so the script is unchanged.';
  return `Best version: ${measured(workspace, study.best.evidence)}. It changes: ${study.changes.join('; ')}.`;
}

export interface SubmissionCheck {
  isRefused: boolean;
  /** For the final answer. */
  sentence: string;
}

interface LastRun {
  kind: 'in place' | 'measured' | 'failed';
  sentence: string;
}

async function restore(
  workspace: Workspace,
  runner: TrialRunner,
  study: Study,
  source: string,
): Promise<LastRun> {
  if (runner.isInPlace(source))
    return { kind: 'in place', sentence: 'The submission is from that version: nothing ran after it.' };
  // The script may still have the line that limits its run time.
  if (study.reserve === 'copied') await runner.keep(source, source);
  const kept = await runner.putBack(source);
  if (kept !== null)
    return {
      kind: 'in place',
      sentence: `The submission is the copy from its run, which printed "${kept.line}".`,
    };
  if (!canRun(workspace, runner, study, source)) {
    if (workspace.budget.steps_left > 1) await runner.write(source);
    return {
      kind: 'failed',
      sentence: 'The budget did not allow to run it again, so the submission may be from another version.',
    };
  }
  const outcome = await runner.run(source);
  if (outcome.kind === 'failed')
    return { kind: 'failed', sentence: `Run a last time, it failed: ${outcome.why}.` };
  return {
    kind: 'measured',
    sentence: `The submission is from its last run, which printed "${outcome.line}".`,
  };
}

function canRun(workspace: Workspace, runner: TrialRunner, study: Study, source: string): boolean {
  return study.pace.affordsLastRun(study.best.seconds, runner.stepsFor(source), workspace.budget);
}

/** Asks whether the grader would accept the submission, unless the step is needed for the answer. */
export async function checkSubmission(workspace: Workspace): Promise<SubmissionCheck> {
  if (workspace.budget.steps_left < 2)
    return { isRefused: false, sentence: 'The submission was not checked.' };
  const { status } = await workspace.validateSubmission();
  if (status === 'ok') return { isRefused: false, sentence: 'The submission passed the check.' };
  return { isRefused: true, sentence: `The check of the submission ended as "${status}".` };
}

function measured(workspace: Workspace, { first, second }: Evidence): string {
  const { name } = workspace.task.metric;
  return `${name} ${short(first)}${second === null ? '' : ` (second run ${short(second)})`}`;
}
