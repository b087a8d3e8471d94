import type { SubmissionState, TaskBrief } from '../schema/index.ts';
import { type FirstFile, submissionHash } from '../store/index.ts';
import type { SubmissionSeen } from './environment.ts';

/**
 * Tracks the submission from step to step: whether it exists, its content, when it was written, and whether it is older
 * than the last script run.
 */
export class SubmissionTracker {
  readonly #files: TaskBrief['submission']['files'];
  #writtenAt: number | null;
  #lastScript: number;

  constructor(submission: TaskBrief['submission'], known: { writtenAt: number | null; lastScript: number }) {
    this.#files = submission.files;
    this.#writtenAt = known.writtenAt;
    this.#lastScript = known.lastScript;
  }

  /**
   * @param files those of the submission, after the step
   * @param ranScript whether the step ran a script
   */
  after(step: number, files: readonly FirstFile[], ranScript: boolean): SubmissionState {
    if (ranScript) this.#lastScript = step;
    if (files.some(({ isWritten }) => isWritten)) this.#writtenAt = step;
    const entries = files.flatMap(({ entry }) => entry ?? []);
    const hash = submissionHash(entries, this.#files);
    // Submitted code is not the output of a script, so a script run does not make it stale.
    const isMade = this.#files.every(({ format }) => format !== 'python');
    const stale = isMade && hash !== null && this.#lastScript > (this.#writtenAt ?? 0);
    return { present: hash !== null, hash, written_at_step: this.#writtenAt, stale };
  }
}

/** What an agent learns about its submission. */
export function submissionSeen({ present, written_at_step, stale }: SubmissionState): SubmissionSeen {
  return { present, written_at_step, stale };
}
