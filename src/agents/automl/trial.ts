import type { Environment } from '../../environment/index.ts';
import { Workspace } from '../common/workspace.ts';
import { BranchView } from '../search/branch-view.ts';
import { outcomeText } from '../search/outcome-text.ts';
import { stoppingItself, withoutStop } from '../search/own-stop.ts';
import { type Attempt, type Measured, type Operator, SearchTree } from '../search/search-tree.ts';
import { failedRun, outcomeOf, type TrialOutcome, toldOf } from '../search/trial-outcome.ts';
import { Pace } from './pace.ts';
import { filesIn } from './script-files.ts';

/** A version that was measured. */
export type Version = Attempt & { measured: Measured & { source: string } };

/**
 * Runs versions of a script one after another on one branch, which costs no time besides their own. One that may be the
 * best gets a branch of its own as it ran.
 */
export class Trials {
  readonly #environment: Environment;
  readonly #work: BranchView;
  readonly workspace: Workspace;
  readonly tree: SearchTree;
  readonly pace: Pace;
  /** The content of each file of the script on the working branch. */
  #files: ReadonlyMap<string, string> = new Map();
  /** The share of the budget that was used when the last version was recorded. */
  #used = 0;
  /** Whether the submission of the first version is accepted, so that that of each other must be; null: not known. */
  isAccepted: boolean | null = null;

  constructor(environment: Environment) {
    this.#environment = environment;
    const { budget } = environment;
    const all = { seconds: Number.POSITIVE_INFINITY, steps: Number.POSITIVE_INFINITY };
    this.#work = new BranchView(environment, environment, budget, all);
    this.workspace = new Workspace(this.#work);
    this.tree = new SearchTree(environment);
    this.pace = new Pace(this.#work);
  }

  /** Runs the starter, which lies in the workspace, and stays selected until there is a better version. */
  async runStarter(source: string): Promise<{ starter: Attempt; outcome: TrialOutcome }> {
    this.#files = filesIn(source, this.workspace.task.entry);
    const starter = this.begin('starter', null, 'the starter as it is');
    const outcome = await this.run(source);
    starter.view = await this.fork();
    this.#environment.select(starter.view.branch);
    starter.measured = measuredAs(outcome, source);
    this.finish(starter, outcome.kind === 'measured', toldOf(outcome));
    return { starter, outcome };
  }

  begin(operator: Operator, parent: Attempt | null, change: string): Attempt {
    const attempt = this.tree.begin(operator, parent, { why: '' });
    attempt.change = change;
    return attempt;
  }

  /** A branch with the version that ran just now, and its submission. It costs nothing until something is done on it. */
  fork(): Promise<BranchView> {
    return this.#work.fork();
  }

  /** One that is kept is the best one from now on. Its cost is all that was used since the last one. */
  finish(attempt: Attempt, isKept: boolean, why: string): void {
    const { used } = this.pace;
    attempt.cost = Math.max(0, used - this.#used);
    this.#used = used;
    this.tree.finish(attempt, isKept ? 'kept' : attempt.measured === null ? 'failed' : 'dropped', why);
    if (isKept) this.tree.take(attempt);
    this.tree.record(attempt);
  }

  /** @param limit seconds after which the script stops itself; without it, only the environment's limits end it */
  async run(source: string, limit?: number): Promise<TrialOutcome> {
    const { workspace } = this;
    const { entry, metric } = workspace.task;
    const before = this.#work.left.seconds_left;
    const files = filesIn(limit === undefined ? source : stoppingItself(source, limit), entry);
    for (const [path, text] of files) {
      if (this.#files.get(path) === text) continue;
      if (workspace.ended) break;
      const { status } = await workspace.writeFile(path, text);
      if (status !== 'ok') return failedRun(`the script could not be written (${status})`);
      this.#files = new Map([...this.#files, [path, text]]);
    }
    if (workspace.ended) return failedRun('the run is over');
    const result = await workspace.executeScript(entry);
    // The budget also counts the time around the script itself.
    const seconds = Math.max(result.durationMs / 1000, before - result.budget.seconds_left);
    return outcomeOf(result, metric, seconds, limit);
  }

  get #isHandedIn(): boolean {
    const { entry, submission } = this.workspace.task;
    return submission.files.some(({ path }) => path === entry);
  }

  /** Whether the submission on the working branch is accepted. */
  async check(): Promise<boolean> {
    return (await this.workspace.validateSubmission()).status === 'ok';
  }

  /** Ends the run. `said`: what else is to be told. */
  async answer(said: readonly string[]): Promise<void> {
    const [root] = this.tree.attempts;
    const chosen = this.tree.best ?? root;
    if (this.workspace.ended || root === undefined || chosen?.view == null) return;
    const branch = new Workspace(chosen.view);
    const ran = chosen.view.source;
    // A script that is submitted must not stop itself; others stay as they ran, because their submission is of these.
    if (ran !== null && this.#isHandedIn && withoutStop(ran) !== ran && this.#work.left.steps_left >= 2)
      await branch.writeFile(branch.task.entry, withoutStop(ran));
    if (this.isAccepted === null && this.#work.left.steps_left >= 2)
      this.isAccepted = (await branch.validateSubmission()).status === 'ok';
    if (branch.ended) return;
    const check =
      this.isAccepted === null
        ? 'was not checked'
        : this.isAccepted
          ? 'passed the check'
          : "did not pass the check, as the starter's did not";
    const text = outcomeText(this.tree, root, [...said, `The submission ${check}.`]);
    await this.#environment.step({ name: 'Final Answer', args: { final_answer: text } });
  }
}

/** Null for a run that failed. `source`: the script, from which later runs of it are made. */
export function measuredAs(outcome: TrialOutcome, source: string): Version['measured'] | null {
  if (outcome.kind === 'failed') return null;
  return { ...outcome, evidence: { first: outcome.score, second: null }, source };
}

export function isVersion(attempt: Attempt | null | undefined): attempt is Version {
  return attempt?.measured?.source != null;
}

/** Whether the script is automl's own, with nothing of the starter in it. */
export function isOwn({ operator }: Attempt): boolean {
  return operator === 'model';
}
