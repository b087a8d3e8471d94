import type { Workspace } from '../common/workspace.ts';
import { readMetric } from './metric-reader.ts';

/** What one run of a version of the script showed. */
export type Outcome =
  | { kind: 'measured'; score: number; line: string; validation: boolean; seconds: number }
  | {
      kind: 'failed';
      why: string;
      seconds: number;
      timedOut: boolean;
      /** It ran to its end, but printed no metric. */
      silent?: boolean;
    };

/** Runs versions of the entry script, and knows which one lies in the workspace and which one ran last. */
export class TrialRunner {
  readonly #workspace: Workspace;
  #written: string;
  #lastRun: { source: string; outcome: Outcome } | null = null;

  /** `source` is what the entry script holds already. */
  constructor(workspace: Workspace, source: string) {
    this.#workspace = workspace;
    this.#written = source;
  }

  /** Whether the last run was one of this version that went through. */
  isInPlace(source: string): boolean {
    const last = this.#lastRun;
    return this.#written === source && last?.source === source && last.outcome.kind === 'measured';
  }

  /** Whether the last run failed: it may have left a torn submission. */
  get hasFailed(): boolean {
    return this.#lastRun?.outcome.kind === 'failed';
  }

  /** Steps that running a version takes now. */
  stepsFor(source: string): number {
    return this.#written === source ? 1 : 2;
  }

  async run(source: string): Promise<Outcome> {
    const before = this.#workspace.budget.seconds_left;
    const problem = await this.write(source);
    const outcome = problem ?? (await this.#execute(before));
    if (problem === null) this.#lastRun = { source, outcome };
    return outcome;
  }

  /** Puts a version into the workspace without running it; null when it lies there. */
  async write(source: string): Promise<Outcome | null> {
    if (this.#written === source) return null;
    const written = await this.#workspace.writeFile(this.#workspace.task.entry, source);
    if (written.status === 'ok') {
      this.#written = source;
      return null;
    }
    return {
      kind: 'failed',
      why: `the script could not be written (${written.status})`,
      seconds: 0,
      timedOut: false,
    };
  }

  async #execute(secondsBefore: number): Promise<Outcome> {
    const { entry, metric } = this.#workspace.task;
    const result = await this.#workspace.executeScript(entry);
    // The budget also counts what surrounds the script itself.
    const seconds = Math.max(result.durationMs / 1000, secondsBefore - result.budget.seconds_left);
    const timedOut = result.status === 'timed_out';
    if (result.status !== 'ok')
      return { kind: 'failed', why: `the script ended as ${result.status}`, seconds, timedOut };
    const reading = readMetric(result.observation, metric);
    if (reading === null) {
      return {
        kind: 'failed',
        why: `the script printed no ${metric.name} that I can read`,
        seconds,
        timedOut,
        silent: true,
      };
    }
    if (!Number.isFinite(reading.value)) {
      return {
        kind: 'failed',
        why: `the script printed a ${metric.name} that is no number: "${reading.line}"`,
        seconds,
        timedOut,
      };
    }
    const { value: score, line, validation } = reading;
    return { kind: 'measured', score, line, validation, seconds };
  }
}
