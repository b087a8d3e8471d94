import type { Workspace } from '../common/workspace.ts';
import type { VersionScores } from '../search/noise-test.ts';
import { filesIn } from './script-files.ts';
import { type Candidate, type Study, short } from './study.ts';
import { type TrialOutcome, told } from './trial.ts';

/** Submits the results of the script, and says why nothing was tuned. `filled`: how a missing model was written. */
export async function answerWithoutSearch(
  workspace: Workspace,
  starter: TrialOutcome,
  why: string,
  filled?: string,
): Promise<void> {
  if (workspace.ended) return;
  workspace.note({ Decision: `I cannot tune this script: ${why}. I submit what it left.` });
  const check = await checkSubmission(workspace);
  const first = filled ?? `I ran ${workspace.task.entry} unchanged: ${told(starter)}.`;
  await workspace.finalAnswer(`${first} I tuned nothing, because ${why}. ${check.sentence}`);
}

/**
 * Leaves the best version in place and checked, or else the first one, and answers with the measurements. `said`:
 * sentences about what else was done.
 */
export async function answerWithBest(study: Study, said: readonly string[]): Promise<void> {
  const { workspace, starter, best, runner } = study;
  if (workspace.ended) return;
  const first = starter.isOwn ? 'version first written' : 'starter';
  let { isRefused, sentence } = await submit(study, best);
  if (isRefused && best !== starter && canRun(study, starter)) {
    workspace.note({
      Observed: `The best version is of no use in the end: ${sentence}`,
      Decision: `I go back to the ${first}.`,
    });
    study.goBack();
    sentence = `I went back to the ${first} in the end. ${(await submit(study, starter)).sentence}`;
  }
  const measured = ({ first: one, second }: VersionScores) =>
    `${workspace.task.metric.name} ${short(one)}${second === null ? '' : ` (second run ${short(second)})`}`;
  const sentences = [
    ...said,
    `The ${first}: ${measured(starter.evidence)}.`,
    best === starter
      ? 'No change was better by more than the noise, so the script is unchanged.'
      : `Best version: ${measured(best.evidence)}. It changes: ${best.changes.join('; ')}.`,
    runner.attempts.inWords,
    sentence,
    "The numbers are the script's own measurements.",
  ];
  await workspace.finalAnswer(sentences.filter((each) => each !== '').join(' '));
}

export interface SubmissionCheck {
  isRefused: boolean;
  /** For the final answer. */
  sentence: string;
}

/** Puts a version in place with its submission, and checks it. */
async function submit(study: Study, version: Candidate): Promise<SubmissionCheck> {
  const problem = await restore(study, version);
  const check = await checkSubmission(study.workspace);
  return problem === null ? check : { isRefused: true, sentence: `${problem} ${check.sentence}` };
}

/** Returns why the submission may not be that of the version, or null. */
async function restore(study: Study, version: Candidate): Promise<string | null> {
  const { runner, workspace } = study;
  const { source } = version;
  if (runner.isInPlace(source) || (await runner.putBack(source)) !== null) return null;
  if (!canRun(study, version)) {
    if (workspace.budget.steps_left > 1) await runner.write(source);
    return 'The budget did not allow to run it again, so the submission may be from another version.';
  }
  const outcome = await runner.run(source);
  return outcome.kind === 'measured' ? null : `Run a last time, it failed: ${outcome.why}.`;
}

/** Whether there is time for another run, and steps to write all files, to run and to answer. */
function canRun({ workspace, best }: Study, { source, seconds }: Candidate): boolean {
  const { budget, task } = workspace;
  const steps = filesIn(source, task.entry).size + 2;
  return Math.max(seconds, best.seconds) <= budget.seconds_left && steps <= budget.steps_left;
}

/** Asks whether the grader would accept the submission, unless the step is needed for the answer. */
export async function checkSubmission(workspace: Workspace): Promise<SubmissionCheck> {
  if (workspace.budget.steps_left < 2)
    return { isRefused: false, sentence: 'The submission was not checked.' };
  const { status } = await workspace.validateSubmission();
  return status === 'ok'
    ? { isRefused: false, sentence: 'The submission passed the check.' }
    : { isRefused: true, sentence: `The check of the submission ended as "${status}".` };
}
