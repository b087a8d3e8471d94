import type { Workspace } from '../common/workspace.ts';
import { versionsOf } from './study.ts';
import type { Outcome, TrialRunner } from './trial.ts';

/** The second run may take this share of the remaining time, so that something can still be submitted after it. */
const share = 0.75;
/** A starter that was stopped at its time limit is trained for this share of its rounds. */
const shareOfRounds = 0.1;

/** A starter with less training, and its outcome. */
export interface Shortened {
  source: string;
  outcome: Outcome & { kind: 'measured' };
  /** For the final answer. */
  sentence: string;
}

/**
 * Runs a starter that was stopped at its time limit once more, with a tenth of its rounds; null if that is of no use.
 */
export async function runShortened(
  workspace: Workspace,
  runner: TrialRunner,
  source: string,
): Promise<Shortened | null> {
  const { seconds_left, steps_left } = workspace.budget;
  if (workspace.ended || steps_left < 5) return null;
  const script = versionsOf(source, workspace.task);
  const values = script.knobs.map(({ value, prior }) =>
    prior.isLength ? Math.max(1, Math.round(value * shareOfRounds)) : value,
  );
  const changes = script.changes(values).join('; ');
  const shorter = script.render(values);
  if (changes === '' || shorter === null) return null;
  workspace.note({
    Reason: 'The starter takes more time than there is; with fewer rounds it may come to its end.',
    Change: changes,
  });
  const outcome = await runner.run(shorter, Math.max(1, Math.floor(seconds_left * share)));
  if (outcome.kind === 'failed') {
    workspace.note({ Observed: `${outcome.why}.`, Decision: 'A failure: not kept.' });
    return null;
  }
  runner.rename(shorter);
  workspace.note({ Observed: `${outcome.line}.`, Decision: 'Kept in place of the starter.' });
  const sentence = `The starter was stopped for its time, so I shortened it (${changes}); it printed "${outcome.line}".`;
  return { source: shorter, outcome, sentence };
}
