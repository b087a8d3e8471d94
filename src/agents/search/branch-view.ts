import type { Branch, Environment, ModelReply, StepResult } from '../../environment/index.ts';
import {
  type Action,
  type Budget,
  type ModelRequest,
  searchNodeEntry,
  type TaskBrief,
} from '../../schema/index.ts';
import { stoppingItself } from './own-stop.ts';

/** The limits of the work on a branch. */
export interface Allotment {
  seconds: number;
  steps: number;
}

/** What the branches of a view share. */
interface Account {
  allotted: Allotment;
  used: Allotment;
  /** The budget of the whole run, after the last step. */
  now: Budget;
  isOver: boolean;
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
  readonly task: TaskBrief;
  readonly actions: Environment['actions'];
  /** The budget at the beginning. */
  readonly budget: Budget;
  /** The final answer; null before it is given. */
  answer: string | null = null;
  /** The current entry script; null if it must be read first. */
  source: string | null;
  /** Seconds after which the script stops itself; null for no limit. */
  runLimit: number | null = null;
  readonly #environment: Environment;
  readonly #account: Account;
  #branch: Branch;
  #selected: BranchView | null = null;
  /** The last run of the script, if nothing was changed since. */
  freshRun: EntryRun | null;
  #again: StepResult | null = null;

  /** @param before the last run of the script, if the branch was forked right after it */
  constructor(
    environment: Environment,
    branch: Branch,
    now: Budget,
    allotted: Allotment,
    before: EntryRun | null = null,
    account?: Account,
  ) {
    this.#environment = environment;
    this.#account = account ?? { allotted, used: { seconds: 0, steps: 0 }, now, isOver: false };
    this.#branch = branch;
    this.task = environment.task;
    this.actions = environment.actions;
    this.budget = this.#shown(now);
    this.source = before?.source ?? null;
    this.freshRun = before;
  }

  get branch(): Branch {
    return this.#branch;
  }

  get id(): Branch['id'] {
    return this.#branch.id;
  }

  get origin(): Branch['origin'] {
    return this.#branch.origin;
  }

  /** What is left of the allotment, after the last step here or on a fork. */
  get left(): Budget {
    return this.#shown(this.#account.now);
  }

  /** The budget of the whole run, after that step. */
  get runBudget(): Budget {
    return this.#account.now;
  }

  get runIsOver(): boolean {
    return this.#account.isOver;
  }

  /**
   * Answers the next run of the unchanged script with the previous one, so that an agent that begins here need not wait
   * for it.
   */
  repeatRun(): void {
    this.#again = this.freshRun?.result ?? null;
  }

  /**
   * Makes each version of the script that is written here stop itself after this many seconds: one that never ends
   * would use up the rest of the run. Does nothing if the script itself is the submission.
   */
  limitRuns(seconds: number): void {
    const isHandedIn = this.task.submission.files.some(({ path }) => path === this.task.entry);
    this.runLimit = isHandedIn ? null : Math.ceil(seconds);
  }

  /** Ends the current allotment of the branch, and gives it a new one. */
  allot(allotted: Allotment): void {
    Object.assign(this.#account, { allotted, used: { seconds: 0, steps: 0 } });
    this.answer = null;
  }

  async step(asked: Action): Promise<StepResult> {
    if (this.runIsOver || this.answer !== null || this.#isSpent()) return this.#closed();
    const action = this.#limited(asked);
    const { name } = action;
    const args = typeof action.args === 'object' && action.args !== null ? action.args : {};
    if (name === 'Final Answer') {
      this.answer = String(args.final_answer ?? '');
      return this.#closed('ok', 'The work on this branch has ended.');
    }
    const runsEntry = name === 'Execute Script' && args.script_name === this.task.entry;
    const again = this.#again;
    if (!looking.has(name)) this.#again = null;
    if (runsEntry && again !== null) return { ...again, budget: this.left, ended: false };
    const result = await this.#branch.step(action);
    const { used, now } = this.#account;
    used.seconds += Math.max(result.durationMs / 1000, result.budget.seconds_used - now.seconds_used);
    used.steps += result.budget.steps_used > now.steps_used ? 1 : 0;
    Object.assign(this.#account, { now: result.budget, isOver: result.ended });
    this.#follow(name, args, runsEntry, result);
    return { ...result, budget: this.#shown(result.budget), ended: result.ended || this.#isSpent() };
  }

  /** The fork uses what this branch may use. */
  async fork(at?: number): Promise<BranchView> {
    const { now, allotted } = this.#account;
    const branch = await this.#branch.fork(at);
    const before = at === undefined ? this.freshRun : null;
    const view = new BranchView(this.#environment, branch, now, allotted, before, this.#account);
    if (at === undefined) view.source = this.source;
    return view;
  }

  async ask(request: ModelRequest): Promise<ModelReply> {
    const reply = await this.#environment.ask(request);
    if (reply.kind === 'closed') this.#account.isOver = true;
    return reply;
  }

  /** An agent on a branch can neither end the run nor choose what is graded, but which branch the search goes on with. */
  select(branch: Branch): void {
    this.#selected = branch instanceof BranchView && branch !== this ? branch : null;
  }

  /** Continues with the branch that an agent selected; otherwise with this one. */
  takeSelected(): void {
    if (this.#selected === null) return;
    const { branch, source, freshRun } = this.#selected;
    Object.assign(this, { source, freshRun });
    this.#branch = branch;
    this.#selected = null;
  }

  giveUp(_reason: unknown, message: string): void {
    this.answer ??= message;
  }

  /** The attempts of an agent on a branch are not those of the search. */
  note({ [searchNodeEntry]: _, ...entries }: Record<string, string>): void {
    if (Object.keys(entries).length > 0) this.#environment.note(entries);
  }

  #follow(name: string, args: Record<string, unknown>, runsEntry: boolean, result: StepResult): void {
    if (runsEntry) {
      this.freshRun = { result, source: this.source };
      return;
    }
    if (looking.has(name)) return;
    // Other scripts can also write files that become part of the submission.
    this.freshRun = null;
    if (name === 'Write File' && args.file_name === this.task.entry)
      this.source = result.status === 'ok' && typeof args.content === 'string' ? args.content : null;
    else if (name === 'Copy File' ? args.destination === this.task.entry : !/^(?:Execute|Write) /.test(name))
      this.source = null;
  }

  #limited(action: Action): Action {
    const { name, args } = action;
    if (this.runLimit === null || name !== 'Write File' || args?.file_name !== this.task.entry) return action;
    if (typeof args.content !== 'string') return action;
    return { name, args: { ...args, content: stoppingItself(args.content, this.runLimit) } };
  }

  #isSpent(): boolean {
    const { used, allotted } = this.#account;
    return used.steps >= allotted.steps || used.seconds >= allotted.seconds;
  }

  #shown(now: Budget): Budget {
    const { used, allotted } = this.#account;
    return {
      ...{ ...now, steps_used: used.steps, seconds_used: used.seconds },
      steps_left: Math.max(0, Math.min(now.steps_left, allotted.steps - used.steps)),
      seconds_left: Math.max(0, Math.min(now.seconds_left, allotted.seconds - used.seconds)),
    };
  }

  #closed(status: StepResult['status'] = 'closed', observation = 'What this branch may use is used up.') {
    return {
      ...{ step: 0, status, observation, exitCode: null, durationMs: 0 },
      budget: this.left,
      submission: { present: false, written_at_step: null, stale: false },
      ended: true,
    };
  }
}
