import type { Environment } from '../../environment/index.ts';
import type { Budget } from '../../schema/index.ts';
import { type Allotment, BranchView } from './branch-view.ts';
import { Evaluator } from './evaluator.ts';
import type { HoldOut } from './held-out-rows.ts';
import { Judge } from './judge.ts';
import { outcomeText } from './outcome-text.ts';
import { type Move, type MoveSettings, type Policy, scoreOf } from './policies.ts';
import { SearchBudget } from './search-budget.ts';
import { type Attempt, measuredBase, SearchTree } from './search-tree.ts';

/** The result of an operator on a branch. `nothing`: no version was written. */
export type Written = { kind: 'written'; change: string } | { kind: 'nothing'; why: string };

export interface SearchSettings extends MoveSettings {
  policy: Policy;
  /** The number of consecutive attempts without a new best version after which the search widens. */
  patience: number;
  maxAttempts: number;
  /** The number of attempts that are made at the same time. */
  atOnce: number;
  /** Measures how much of a score is luck, confirms improvements, and selects on fresh seeds. */
  measuresNoise: boolean;
  /** Makes the first attempt, besides the starter, without a model. */
  portfolio: boolean;
  random: () => number;
  /** Withholds rows of the data to measure versions on; null: all scores are the scripts' own. */
  holdOut: HoldOut | null;
}

/** Makes a version on a branch for a move. */
export type Operate = (move: Move, view: BranchView, search: TreeSearch) => Promise<Written>;

/** The steps to measure a version: reading, writing, running and checking. */
const stepsToMeasure = 5;
/** The share of the rest of the budget for one attempt, and the minimum and maximum of its steps. */
const ofAttempt = { share: 0.35, least: stepsToMeasure + 3, most: 14 };
/** For the first one without a model: the least is enough to look at the data and to write a model. */
const ofPortfolio = { share: 0.2, least: 16, most: Number.POSITIVE_INFINITY };
/** With less time than for so many runs, every draft after the first one takes more than it gives. */
const draftRuns = 15;
/** After this many consecutive attempts that wrote nothing, the search stops. */
const maxIdle = 6;

/**
 * A search over versions of a task's script: each attempt has its own branch, the best one so far is always the one
 * that would be graded, and the whole budget is used.
 */
export class TreeSearch {
  readonly tree: SearchTree;
  readonly evaluator: Evaluator;
  readonly #environment: Environment;
  readonly #settings: SearchSettings;
  readonly #operate: Operate;
  readonly #budget: SearchBudget;
  readonly #judge: Judge;
  #idle = 0;
  #sinceGain = 0;
  #width = 1;
  #pending = 0;

  constructor(environment: Environment, settings: SearchSettings, operate: Operate) {
    this.#environment = environment;
    this.#settings = settings;
    this.#operate = operate;
    this.#budget = new SearchBudget(environment.budget);
    this.tree = new SearchTree(environment);
    this.evaluator = new Evaluator(environment, this.#budget);
    this.#judge = new Judge(environment, this.tree, this.evaluator, this.#budget);
  }

  /** The budget of the whole run, after the last known step. */
  get budget(): Budget {
    return this.#budget.now;
  }

  get isOver(): boolean {
    return this.#budget.isOver;
  }

  /** The outcome, in sentences; selects the branch that is to be graded. */
  async run(): Promise<string> {
    const root = await this.#runStarter();
    if (this.#settings.portfolio && this.#mayTry())
      await this.#attempt({ operator: 'portfolio', parent: root, why: 'it needs no model' });
    const workers = Array.from({ length: this.#settings.atOnce }, () => this.#work(root));
    await Promise.all(workers);
    this.#environment.note({
      Decision: `I try nothing more: ${this.#whyNoMore() ?? 'no version is left to go on from'}.`,
    });
    const selection = await this.#select(root);
    return outcomeText(this.tree, root, [selection]);
  }

  async #runStarter(): Promise<Attempt> {
    const root = this.tree.begin('starter', null, { why: '' });
    const { seconds, steps: left } = this.#budget.left;
    // With very few steps, all are needed for the submission.
    const allotted = { seconds, steps: left - 1 };
    root.view = new BranchView(this.#environment, this.#environment, this.#budget.now, allotted);
    root.change = 'the starter as it is';
    await this.#measure(root, root.view);
    root.cost = this.#budget.largestShare;
    this.tree.record(root);
    await this.#prepareToJudge(root);
    return root;
  }

  async #prepareToJudge(first: Attempt): Promise<void> {
    const { measuresNoise, holdOut } = this.#settings;
    if (measuresNoise && first.measured !== null && this.#mayTry()) await this.#judge.begin(first, holdOut);
  }

  async #work(root: Attempt): Promise<void> {
    while (this.#whyNoMore() === null) {
      const { policy, random, measuresNoise, ...settings } = this.#settings;
      const isShort = measuresNoise && !this.#budget.affordsRuns(draftRuns, root.measured?.seconds ?? 0);
      const move = policy({
        ...{ tree: this.tree, root, random, width: this.#width },
        noiseTest: this.evaluator.noiseTest,
        settings: isShort ? { ...settings, drafts: 1 } : settings,
      });
      if (move === null) return;
      await this.#attempt(move);
    }
  }

  async #attempt(move: Move): Promise<void> {
    const { operator, parent, other, why } = move;
    if (parent.view === null) return;
    const attempt = this.tree.begin(operator, parent, { why, other: other ?? null });
    this.#environment.note({
      Decision: `Attempt ${attempt.id}: ${operator} of ${parent.id}, because ${why}.`,
    });
    this.tree.record(attempt);
    this.#pending += 1;
    const before = this.#budget.largestShare;
    const allotted = this.#allotment(operator === 'portfolio');
    const view = await this.evaluator.fork(parent, allotted);
    attempt.view = view;
    const written = await this.#operate(move, view, this);
    this.#budget.follow(view);
    if (written.kind === 'nothing') {
      attempt.change = 'no version';
      this.tree.finish(attempt, 'failed', written.why);
      this.#idle += 1;
    } else {
      this.#idle = 0;
      attempt.change = written.change;
      view.allot({ seconds: this.#budget.left.seconds, steps: stepsToMeasure });
      await this.#measure(attempt, view);
    }
    attempt.cost = (this.#budget.largestShare - before) / this.#pending;
    this.#pending -= 1;
    this.tree.record(attempt);
  }

  /** Measures an attempt, and keeps it as the best if it is better by more than the noise. */
  async #measure(attempt: Attempt, view: BranchView): Promise<void> {
    const scored = await this.evaluator.measure(view);
    this.#budget.follow(view);
    if (scored.kind === 'failed') return this.#fail(attempt, scored.why, scored.printed);
    attempt.measured = scored;
    attempt.output = scored.printed;
    const problem = await this.#judge.correct(attempt, scored);
    if (problem !== null) return this.#fail(attempt, problem);
    const { noiseTest } = this.evaluator;
    const compared = measuredBase(attempt);
    const gain = compared === undefined ? null : noiseTest.gain(scoreOf(attempt), scoreOf(compared));
    attempt.hasGained = await this.#judge.isNewBest(attempt, scored);
    if (attempt.hasGained) this.tree.take(attempt);
    this.#widenUnless(attempt.hasGained);
    const isKept = gain === null || gain > noiseTest.threshold;
    const than = gain === null ? '' : `, ${gain > 0 ? 'better' : 'no better'} than ${compared?.id}`;
    this.tree.finish(attempt, isKept ? 'kept' : 'dropped', `${scored.line}${than}`);
    const isFirst = this.tree.measured.length === 1 && attempt.parent !== null;
    if (isFirst) await this.#prepareToJudge(attempt);
  }

  #fail(attempt: Attempt, why: string, output = ''): void {
    attempt.measured = null;
    attempt.output = output || why;
    this.#widenUnless(false);
    this.tree.finish(attempt, 'failed', why);
  }

  #widenUnless(hasGained: boolean): void {
    this.#sinceGain = hasGained ? 0 : this.#sinceGain + 1;
    if (hasGained) this.#width = 1;
    if (this.#sinceGain < this.#settings.patience) return;
    this.#sinceGain = 0;
    this.#width += 1;
    this.#environment.note({
      Decision: `Nothing gained in ${this.#settings.patience} attempts: I look at the ${this.#width} best versions from now on.`,
    });
  }

  async #select(root: Attempt): Promise<string> {
    const reference = root.measured === null ? this.tree.measured[0] : root;
    if (reference === undefined || this.#budget.isOver) return '';
    const selection = await this.#judge.select(reference);
    if (selection === null) return '';
    const { chosen, said } = selection;
    if (chosen !== this.tree.best) {
      this.tree.take(chosen);
      this.tree.record(chosen);
    }
    this.#environment.note({ Decision: `${said} I submit ${chosen.id}.` });
    return said;
  }

  #whyNoMore(): string | null {
    const { maxAttempts } = this.#settings;
    return this.tree.attempts.length > maxAttempts ? `max_attempts is ${maxAttempts}` : this.#whyNotTry();
  }

  #mayTry(): boolean {
    return this.#whyNotTry() === null;
  }

  #whyNotTry(): string | null {
    const { isOver, hasModelCalls } = this.#budget;
    const { seconds, steps: left } = this.#usable();
    if (isOver) return 'the budget is used up';
    if (!hasModelCalls) return 'the tokens or the money for a reply are used up';
    if (this.#idle >= maxIdle) return `the last ${maxIdle} attempts gave no version`;
    if (left < ofAttempt.least)
      return `an attempt needs ${ofAttempt.least} steps, and ${Math.max(left, 0)} are left for one`;
    const needed = 1.6 * this.tree.slowest + 1;
    if (seconds > needed) return null;
    return `an attempt may need ${Math.ceil(needed)} s, and ${Math.max(Math.floor(seconds), 0)} are left for one`;
  }

  #allotment(isPortfolio: boolean): Allotment {
    const { seconds, steps: left } = this.#usable();
    const { share, least, most } = isPortfolio ? ofPortfolio : ofAttempt;
    return {
      seconds: Math.min(seconds, Math.max(share * seconds, 4 * this.tree.slowest)),
      steps: Math.min(left, Math.max(least, Math.min(most, Math.floor(share * left)))),
    };
  }

  /** What is left for attempts: the selection and the answer need a part. */
  #usable(): Allotment {
    const { left } = this.#budget;
    const kept = this.#judge.keptForSelection;
    return { seconds: left.seconds - kept.seconds, steps: left.steps - kept.steps - 1 };
  }
}
