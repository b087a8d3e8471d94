import type { Workspace } from '../common/workspace.ts';
import { readMetric } from '../search/metric-reader.ts';
import { stoppingItself } from '../search/own-stop.ts';
import { Attempts } from './attempts.ts';
import { filesIn } from './script-files.ts';

/** One run of a version of the script that printed a score. */
export interface MeasuredTrial {
  kind: 'measured';
  score: number;
  line: string;
  /** It was printed under a part of the metric's name only. */
  short?: boolean;
  /** Another metric was printed instead of the task's. */
  other?: boolean;
  seconds: number;
  printed: string;
}

/** The outcome of one run of a version of the script. */
export type TrialOutcome = MeasuredTrial | FailedTrial;

interface FailedTrial {
  kind: 'failed';
  why: string;
  seconds: number;
  timedOut: boolean;
  /** It ran to its end, but printed no metric. */
  silent?: boolean;
}

/** What a run printed of its score, or why there is none. */
export function told(outcome: TrialOutcome): string {
  return outcome.kind === 'measured' ? outcome.line : outcome.why;
}

/** A version whose submission is copied beside the script. */
interface Kept {
  source: string;
  outcome: MeasuredTrial;
  slot: number;
}

/** A submission with more files is not copied: each takes a step. */
const maxFiles = 3;

/** Runs versions of the script, and knows which one is in the workspace and which one ran last. */
export class TrialRunner {
  readonly attempts: Attempts;
  readonly workspace: Workspace;
  #written: string;
  /** The content of each file of the script. */
  readonly #files: Map<string, string>;
  /** `text` is what ran: the version, perhaps with a line that limits its time; or what it was before it was renamed. */
  #lastRun: { source: string; text: string; outcome: TrialOutcome; isRenamed?: boolean } | null = null;
  #kept: readonly Kept[] = [];

  /** `source` is the current content of the script's files. */
  constructor(workspace: Workspace, source: string) {
    this.workspace = workspace;
    this.attempts = new Attempts(workspace);
    this.#written = source;
    this.#files = filesIn(source, workspace.task.entry);
  }

  /** Whether the last run was a successful one of this version. */
  isInPlace(source: string): boolean {
    const last = this.#lastRun;
    if (last?.source !== source || last.text !== this.#written) return false;
    return (last.text === source || last.isRenamed === true) && last.outcome.kind === 'measured';
  }

  /** Whether submissions can be copied: not code, which replaces the script itself, nor one of many files. */
  get canKeep(): boolean {
    const { files } = this.workspace.task.submission;
    return files.length <= maxFiles && files.every(({ path }) => !path.endsWith('.py'));
  }

  /** Whether a version can be put back without running it. */
  keeps(source: string): boolean {
    return this.#kept.some((kept) => kept.source === source);
  }

  /** Copies the submission of a version that ran just now. Of earlier copies, those of the versions `besides` stay. */
  async keep(source: string, ...besides: string[]): Promise<void> {
    const last = this.#lastRun;
    if (last?.source !== source || last.text !== this.#written || last.outcome.kind === 'failed') return;
    if (!this.canKeep || this.keeps(source)) return;
    const { outcome } = last;
    this.#kept = this.#kept.filter((each) => besides.includes(each.source));
    const slot = [1, 2, 3].find((each) => this.#kept.every((kept) => kept.slot !== each)) ?? 3;
    for (const { path } of this.workspace.task.submission.files)
      if (!(await this.#copy(path, copyOf(path, slot)))) return;
    this.#kept = [...this.#kept, { source, outcome, slot }];
  }

  /** Puts a copied version back with its submission; null if it was not copied, or that fails. */
  async putBack(source: string): Promise<MeasuredTrial | null> {
    const kept = this.#kept.find((each) => each.source === source);
    if (kept === undefined || (await this.write(source)) !== null) return null;
    for (const { path } of this.workspace.task.submission.files)
      if (!(await this.#copy(copyOf(path, kept.slot), path))) return null;
    this.#lastRun = { source, text: source, outcome: kept.outcome };
    return kept.outcome;
  }

  async #copy(from: string, to: string): Promise<boolean> {
    return !this.workspace.ended && (await this.workspace.copyFile(from, to)).status === 'ok';
  }

  /**
   * Gives the version that ran last another, equivalent text for later runs. In the workspace stays what ran: a submission
   * must come from the script beside it.
   */
  rename(source: string): void {
    if (this.#lastRun !== null) this.#lastRun = { ...this.#lastRun, source, isRenamed: true };
  }

  /** Whether the last run failed: it may have left an incomplete submission. */
  get hasFailed(): boolean {
    return this.#lastRun?.outcome.kind === 'failed';
  }

  /** @param limit seconds after which the script stops itself; without it, only the environment's limits end it */
  async run(source: string, limit?: number): Promise<TrialOutcome> {
    const before = this.workspace.budget.seconds_left;
    const text = limit === undefined ? source : stoppingItself(source, limit);
    const problem = await this.write(text);
    const outcome = problem ?? (await this.#execute(before, limit));
    if (problem === null) this.#lastRun = { source, text, outcome };
    return outcome;
  }

  /** Puts a version into the workspace without running it; null if it is in place. */
  async write(source: string): Promise<TrialOutcome | null> {
    if (this.#written === source) return null;
    for (const [path, text] of filesIn(source, this.workspace.task.entry)) {
      if (this.#files.get(path) === text) continue;
      if (this.workspace.ended) return failed('the run is over');
      const { status } = await this.workspace.writeFile(path, text);
      if (status !== 'ok') return failed(`the script could not be written (${status})`);
      this.#files.set(path, text);
    }
    this.#written = source;
    return null;
  }

  async #execute(secondsBefore: number, limit = Number.POSITIVE_INFINITY): Promise<TrialOutcome> {
    if (this.workspace.ended) return failed('the run is over');
    const { entry, metric } = this.workspace.task;
    const { status, observation, durationMs, budget } = await this.workspace.executeScript(entry);
    // The budget also counts the time around the script itself.
    const seconds = Math.max(durationMs / 1000, secondsBefore - budget.seconds_left);
    const timedOut = status === 'timed_out' || (status === 'failed' && seconds >= limit);
    if (status !== 'ok')
      return failed(`the script ended as ${timedOut ? 'timed_out' : status}`, { seconds, timedOut });
    const reading = readMetric(observation, metric);
    if (reading === null)
      return failed(`the script printed no ${metric.name} that I can read`, { seconds, silent: true });
    const { value: score, line, short, other } = reading;
    if (!Number.isFinite(score))
      return failed(`the script printed a ${metric.name} that is no number: "${line}"`, { seconds });
    return { kind: 'measured', score, line, short, other, seconds, printed: observation };
  }
}

function failed(why: string, more: Partial<FailedTrial> = {}): FailedTrial {
  return { kind: 'failed', why, seconds: 0, timedOut: false, ...more };
}

/** Beside the script, because another folder may not exist. */
function copyOf(path: string, slot: number): string {
  return `kept_${slot}_${path.replaceAll('/', '_')}`;
}
