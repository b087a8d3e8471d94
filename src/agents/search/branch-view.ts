import type { Branch, Environment, ModelReply, StepResult } from '../../environment/index.ts';
import { type Action, type Budget, type ModelRequest, searchNodeEntry } from '../../schema/index.ts';
import { stoppingItself } from './own-stop.ts';

/** The limits of the work on a branch. */
export interface Allotment {
  seconds: number;
  steps: number;
}

/** A run of the entry script, and its result. */
export interface EntryRun {
  result: StepResult;
  /** The script as it ran; null if that is unknown. */
  source: string | null;
}

/** They change no file. */
const looking = new Set(
  (
    'List Files|Read File|Inspect Script Lines|Search Files|Understand File|Validate Submission|Check Budget|Reflection|' +
    'Request Help|Append Summary to Research Log|Retrieval from Research Log'
  ).split('|'),
);

/**
 * A branch as a separate environment, with a part of the run's budget. A Final Answer ends the work on the branch and
 * nothing else. Knows the entry script and its last run if the actions so far show them.
 */
export class BranchView implements Environment {
  readonly branch: Branch;
  readonly #environment: Environment;
  readonly #budget: Budget;
  readonly #entry: string;
  #now: Budget;
  #secondsUsed = 0;
  #stepsUsed = 0;
  #allotted: Allotment;
  #source: string | null;
  #lastRun: EntryRun | null;
  #isFresh: boolean;
  #again: StepResult | null = null;
  #answer: string | null = null;
  #runIsOver = false;
  #runLimit: number | null = null;

  /** @param before the last run of the script, if the branch was forked right after it */
  constructor(
    environment: Environment,
    branch: Branch,
    now: Budget,
    allotted: Allotment,
    before: EntryRun | null = null,
  ) {
    this.#environment = environment;
    this.branch = branch;
    this.#entry = environment.task.entry;
    this.#now = now;
    this.#allotted = allotted;
    this.#budget = this.#shown(now);
    this.#source = before?.source ?? null;
    this.#lastRun = before;
    this.#isFresh = before !== null;
  }

  get id() {
    return this.branch.id;
  }

  get origin() {
    return this.branch.origin;
  }

  get task() {
    return this.#environment.task;
  }

  get actions() {
    return this.#environment.actions;
  }

  /** The budget at the beginning. */
  get budget(): Budget {
    return this.#budget;
  }

  /** The budget of the whole run, after the last step here. */
  get runBudget(): Budget {
    return this.#now;
  }

  get runIsOver(): boolean {
    return this.#runIsOver;
  }

  /** The final answer; null before it is given. */
  get answer(): string | null {
    return this.#answer;
  }

  /** The current entry script; null if it must be read first. */
  get source(): string | null {
    return this.#source;
  }

  /** Seconds after which the script stops itself; null for no limit. */
  get runLimit(): number | null {
    return this.#runLimit;
  }

  /** The last run of the script, if nothing was changed since. */
  get freshRun(): EntryRun | null {
    return this.#isFresh ? this.#lastRun : null;
  }

  /**
   * Answers the next run of the unchanged script with the previous one, so that an agent that begins here need not wait
   * for it.
   */
  repeatRun(): void {
    this.#again = this.#isFresh ? (this.#lastRun?.result ?? null) : null;
  }

  /**
   * Makes each version of the script that is written here stop itself after this many seconds: one that never ends
   * would use up the rest of the run. Does nothing if the script itself is the submission.
   */
  limitRuns(seconds: number): void {
    const isHandedIn = this.task.submission.files.some(({ path }) => path === this.#entry);
    this.#runLimit = isHandedIn ? null : Math.ceil(seconds);
  }

  /** Ends the current allotment of the branch, and gives it a new one. */
  allot(allotted: Allotment): void {
    this.#allotted = allotted;
    this.#secondsUsed = 0;
    this.#stepsUsed = 0;
    this.#answer = null;
  }

  async step(asked: Action): Promise<StepResult> {
    if (this.#runIsOver || this.#answer !== null || this.#isSpent()) return this.#closed();
    const action = this.#limited(asked);
    const { name } = action;
    const args = typeof action.args === 'object' && action.args !== null ? action.args : {};
    if (name === 'Final Answer') {
      this.#answer = String(args.final_answer ?? '');
      return this.#closed('ok', 'The work on this branch has ended.');
    }
    const runsEntry = name === 'Execute Script' && args.script_name === this.#entry;
    const again = this.#again;
    if (!looking.has(name)) this.#again = null;
    if (runsEntry && again !== null) return { ...again, budget: this.#shown(this.#now), ended: false };
    const result = await this.branch.step(action);
    this.#secondsUsed += Math.max(
      result.durationMs / 1000,
      result.budget.seconds_used - this.#now.seconds_used,
    );
    this.#stepsUsed += result.budget.steps_used > this.#now.steps_used ? 1 : 0;
    this.#now = result.budget;
    this.#runIsOver = result.ended;
    this.#follow(name, args, runsEntry, result);
    return { ...result, budget: this.#shown(result.budget), ended: result.ended || this.#isSpent() };
  }

  fork(at?: number): Promise<Branch> {
    return this.branch.fork(at);
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    const reply = await this.#environment.ask(request);
    if (reply.kind === 'closed') this.#runIsOver = true;
    return reply;
  }

  /** An agent on a branch can neither end the run nor choose what is graded. */
  select(): void {}

  giveUp(_reason: unknown, message: string): void {
    this.#answer ??= message;
  }

  /** The attempts of an agent on a branch are not those of the search. */
  note({ [searchNodeEntry]: _, ...entries }: Record<string, string>): void {
    if (Object.keys(entries).length > 0) this.#environment.note(entries);
  }

  #follow(name: string, args: Record<string, unknown>, runsEntry: boolean, result: StepResult): void {
    if (runsEntry) {
      this.#lastRun = { result, source: this.#source };
      this.#isFresh = true;
      return;
    }
    if (looking.has(name)) return;
    const copiedTo = name === 'Copy File' ? String(args.destination) : null;
    if (copiedTo !== null && copiedTo !== this.#entry) {
      this.#isFresh &&= !this.#isUsed(copiedTo);
      return;
    }
    // Other scripts can also write files that become part of the submission.
    this.#isFresh = false;
    if (name === 'Write File' && args.file_name === this.#entry)
      this.#source = result.status === 'ok' && typeof args.content === 'string' ? args.content : null;
    else if (name !== 'Execute Script' && name !== 'Write File') this.#source = null;
  }

  /** Whether a file is part of the submission, or may be read by the script. */
  #isUsed(path: string): boolean {
    const name = path.replace(/^.*\/|\.\w+$/g, '');
    const isHandedIn = this.task.submission.files.some((file) => file.path === path);
    return isHandedIn || this.#source === null || this.#source.includes(name);
  }

  #limited(action: Action): Action {
    const { name, args } = action;
    if (this.#runLimit === null || name !== 'Write File' || args?.file_name !== this.#entry) return action;
    if (typeof args.content !== 'string') return action;
    return { name, args: { ...args, content: stoppingItself(args.content, this.#runLimit) } };
  }

  #isSpent(): boolean {
    return this.#stepsUsed >= this.#allotted.steps || this.#secondsUsed >= this.#allotted.seconds;
  }

  #shown(now: Budget): Budget {
    const { seconds, steps } = this.#allotted;
    return {
      ...now,
      steps_used: this.#stepsUsed,
      seconds_used: this.#secondsUsed,
      steps_left: Math.max(0, Math.min(now.steps_left, steps - this.#stepsUsed)),
      seconds_left: Math.max(0, Math.min(now.seconds_left, seconds - this.#secondsUsed)),
    };
  }

  #closed(status: StepResult['status'] = 'closed', observation = 'What this branch may use is used up.') {
    return {
      ...{ step: 0, status, observation, exitCode: null, durationMs: 0 },
      budget: this.#shown(this.#now),
      submission: { present: false, written_at_step: null, stale: false },
      ended: true,
    };
  }
}
