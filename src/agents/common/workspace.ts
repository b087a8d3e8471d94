import type { Environment, StepResult, SubmissionSeen } from '../../environment/index.ts';
import type { Action, Budget, TaskBrief } from '../../schema/index.ts';

/** The actions of an environment as methods, and the budget that remains after the last of them. */
export class Workspace {
  readonly #environment: Environment;
  #budget: Budget;
  #ended = false;
  #submission: SubmissionSeen | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#budget = environment.budget;
  }

  get task(): TaskBrief {
    return this.#environment.task;
  }

  /** The budget after the last step; before the first step, the whole budget. */
  get budget(): Budget {
    return this.#budget;
  }

  /** Whether the run is over, so that no more actions are possible. */
  get ended(): boolean {
    return this.#ended;
  }

  /** The submission as it was in the workspace after the last step; null before the first one. */
  get submission(): SubmissionSeen | null {
    return this.#submission;
  }

  note(entries: Record<string, string>): void {
    this.#environment.note(entries);
  }

  listFiles(folder: string): Promise<StepResult> {
    return this.#step('List Files', { dir_path: folder });
  }

  readFile(path: string): Promise<StepResult> {
    return this.#step('Read File', { file_name: path });
  }

  /** The lines from `first` to `last`, both inclusive and counted from 1; at most 100 of them. */
  inspectLines(path: string, first: number, last: number): Promise<StepResult> {
    return this.#step('Inspect Script Lines', {
      script_name: path,
      start_line_number: first,
      end_line_number: last,
    });
  }

  writeFile(path: string, content: string): Promise<StepResult> {
    return this.#step('Write File', { file_name: path, content });
  }

  executeScript(path: string): Promise<StepResult> {
    return this.#step('Execute Script', { script_name: path });
  }

  validateSubmission(): Promise<StepResult> {
    return this.#step('Validate Submission', {});
  }

  finalAnswer(text: string): Promise<StepResult> {
    return this.#step('Final Answer', { final_answer: text });
  }

  async #step(name: string, args: Action['args']): Promise<StepResult> {
    const result = await this.#environment.step({ name, args });
    this.#budget = result.budget;
    this.#ended = result.ended;
    this.#submission = result.submission;
    return result;
  }
}
