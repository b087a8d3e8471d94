import type { StepResult, SubmissionSeen } from '../../../environment/index.ts';
import type { Action, Budget, TaskBrief } from '../../../schema/index.ts';
import { budgetText } from '../budget-text.ts';

/** The run's state: its remaining budget, and its submission. */
export class StateTracker {
  readonly #task: TaskBrief;
  #budget: Budget;
  #submission: SubmissionSeen = { present: false, written_at_step: null, stale: false };
  /** The last step in which the check accepted the submission, and the last one in which it refused it. */
  #accepted = 0;
  #refused = 0;

  constructor(task: TaskBrief, budget: Budget) {
    this.#task = task;
    this.#budget = budget;
  }

  follow(action: Action, { step, status, budget, submission }: StepResult): void {
    this.#budget = budget;
    this.#submission = submission;
    if (action.name !== 'Validate Submission') return;
    if (status === 'ok') this.#accepted = step;
    if (status === 'failed') this.#refused = step;
  }

  /** For the prompt: one line for the budget and one for the submission. */
  describe(): string {
    return `Remaining budget: ${budgetText(this.#budget)}.\nSubmission: ${this.#describeSubmission()}`;
  }

  /** The reason not to end the run now; null if there is none. */
  objection(): string | null {
    if (!this.#submission.present) return `there is no submission in the workspace (${this.#files})`;
    return this.#submission.stale ? 'the submission is older than the last script run' : null;
  }

  get #files(): string {
    return this.#task.submission.files.map(({ path }) => path).join(', ');
  }

  #describeSubmission(): string {
    const { present, written_at_step: written, stale } = this.#submission;
    const earlier =
      this.#accepted > 0 ? ` The last one that the check accepted was from step ${this.#accepted}.` : '';
    if (!present) return `there is none in the workspace (${this.#files}).${earlier}`;
    const age = written === null ? 'present from the start' : `written in step ${written}`;
    const old = stale
      ? ' It is stale: a script has run since without writing it, so it may not belong to your last result.'
      : '';
    return `${age}; ${this.#verdict(written ?? 0)}${old}`;
  }

  #verdict(written: number): string {
    const [accepted, refused] = [this.#accepted, this.#refused];
    if (refused > written && refused > accepted) return `the check did not accept it (step ${refused}).`;
    if (accepted > written) return `the check accepted it (step ${accepted}).`;
    return accepted > 0
      ? `not checked since; the last one that the check accepted was from step ${accepted}.`
      : 'not checked yet.';
  }
}
