import type { Environment } from '../../environment/index.ts';
import type { Budget } from '../../schema/index.ts';
import { type Allotment, BranchView } from './branch-view.ts';
import { Evaluator } from './evaluator.ts';
import { HeldOutRows, type HoldOut, stepsOfPart } from './held-out-rows.ts';
import { outcomeText } from './outcome-text.ts';
import { type Move, type MoveSettings, type Policy, scoreOf } from './policies.ts';
import { SearchBudget } from './search-budget.ts';
import { type Attempt, lineage, type Measured, SearchTree } from './search-tree.ts';
import { needsSelection, roundSeconds, selectFinalist, selectionNeeds } from './select-finalist.ts';
import { selectHeldOut } from './select-held-out.ts';

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

/** Shares of the rest of the budget: for one attempt, and for the first one without a model. */
const shares = { attempt: 0.35, portfolio: 0.3, selection: 0.25 };
/**
 * Reading, writing, running and checking: the minimum and maximum steps for one attempt, and what is enough to look at the
 * data and to write a model without a language model.
 */
const steps = { least: 5, most: 14, portfolio: 16 };
/** With less time than for so many runs of the starter, what measuring its noise costs is better spent on attempts. */
const noiseRuns = 30;
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
  #heldOut: HeldOutRows | null = null;
  #idle = 0;
  #sinceGain = 0;
  #width = 1;
  #pending = 0;

  constructor(environment: Environment, settings: SearchSettings, operate: Operate) {
    this.#environment = environment;
    this.#settings = settings;
    this.#operate = operate;
    this.#budget = new SearchBudget(environment.budget);
    this.tree = new SearchTree((entries) => environment.note(entries));
    this.evaluator = new Evaluator(environment, (view) => this.#budget.follow(view));
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
      await this.#attempt(
        { operator: 'portfolio', parent: root, why: 'it needs no model' },
        shares.portfolio,
      );
    const workers = Array.from({ length: this.#settings.atOnce }, () => this.#work(root));
    await Promise.all(workers);
    const selection = await this.#select(root);
    return outcomeText(this.tree, root, selection);
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
    await this.#learnNoise(root);
    return root;
  }

  async #learnNoise(of: Attempt): Promise<void> {
    const isAffordable = of.measured !== null && this.#affordsRuns(noiseRuns, of);
    if (!this.#settings.measuresNoise || !isAffordable || !this.#mayTry()) return;
    if (await this.#withholdRows(of)) return;
    await this.evaluator.measureNoise(of, this.#budget.left);
    const { noise, threshold } = this.evaluator.noiseTest;
    this.#environment.note({
      Observed: `Run again, version ${of.id} shows a noise of ${(noise ?? 0).toPrecision(2)}; a gain must exceed ${threshold.toPrecision(2)}.`,
    });
  }

  /** Whether the whole time is enough for so many runs of a version. */
  #affordsRuns(count: number, { measured }: Attempt): boolean {
    return this.#budget.whole.seconds >= count * (measured?.seconds ?? 0);
  }

  /** Whether rows are withheld from now on, so that new best versions are checked on these. */
  async #withholdRows(reference: Attempt): Promise<boolean> {
    const { holdOut } = this.#settings;
    if (holdOut === null) return false;
    const prepared = await HeldOutRows.prepare(holdOut, reference, async (of, use) => {
      const view = await this.evaluator.fork(of, this.#budget.now, this.#budget.left);
      const found = await use(view);
      this.#budget.follow(view);
      return found;
    });
    if (!('problem' in prepared)) this.#heldOut = prepared;
    this.#environment.note({
      Observed:
        'problem' in prepared
          ? `No rows can be withheld from versions, so their own scores count: ${prepared.problem}.`
          : 'I check new best versions on rows that I withhold from them.',
    });
    return this.#heldOut !== null;
  }

  async #work(root: Attempt): Promise<void> {
    while (this.#mayTry() && this.tree.attempts.length <= this.#settings.maxAttempts) {
      const { policy, random, ...settings } = this.#settings;
      const drafts =
        !this.#settings.measuresNoise || this.#affordsRuns(draftRuns, root) ? settings.drafts : 1;
      const situation = {
        tree: this.tree,
        root,
        noiseTest: this.evaluator.noiseTest,
        random,
        width: this.#width,
      };
      const move = policy({ ...situation, settings: { ...settings, drafts } });
      if (move === null) return;
      await this.#attempt(move, shares.attempt);
    }
  }

  async #attempt(move: Move, share: number): Promise<void> {
    const { operator, parent, other, why } = move;
    if (parent.view === null) return;
    const attempt = this.tree.begin(operator, parent, { why, other: other ?? null });
    this.#environment.note({
      Decision: `Attempt ${attempt.id}: ${operator} of ${parent.id}, because ${why}.`,
    });
    this.tree.record(attempt);
    this.#pending += 1;
    const before = this.#budget.largestShare;
    const allotted = this.#allotment(share);
    const view = await this.evaluator.fork(parent, this.#budget.now, allotted);
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
      view.allot({ seconds: this.#budget.left.seconds, steps: steps.least });
      await this.#measure(attempt, view);
    }
    attempt.cost = (this.#budget.largestShare - before) / this.#pending;
    this.#pending -= 1;
    this.tree.record(attempt);
  }

  /** Measures an attempt, and keeps it as the best if it is better by more than the noise. */
  async #measure(attempt: Attempt, view: BranchView): Promise<void> {
    const finding = await this.evaluator.measure(view);
    this.#budget.follow(view);
    if (finding.kind === 'failed') {
      attempt.output = finding.output || finding.why;
      this.#widenUnless(false);
      this.tree.finish(attempt, 'failed', finding.why);
      return;
    }
    attempt.measured = finding.measured;
    attempt.output = finding.measured.run.result.observation;
    const compared = lineage(attempt).find((one) => one !== attempt && one.measured !== null);
    const { noiseTest } = this.evaluator;
    const problem = await this.#correct(attempt, finding.measured);
    if (problem !== null) {
      attempt.measured = null;
      attempt.output = problem;
      this.#widenUnless(false);
      this.tree.finish(attempt, 'failed', problem);
      return;
    }
    const gain = compared === undefined ? null : noiseTest.gain(scoreOf(attempt), scoreOf(compared));
    const isBest = await this.#isNewBest(attempt);
    const isKept = gain === null || gain > noiseTest.threshold;
    attempt.hasGained = isBest;
    if (isBest) this.#takeAsBest(attempt);
    this.#widenUnless(isBest);
    const than =
      compared === undefined
        ? ''
        : `, ${gain !== null && gain > 0 ? 'better' : 'no better'} than ${compared.id}`;
    this.tree.finish(attempt, isKept ? 'kept' : 'dropped', `${finding.measured.line}${than}`);
    const isFirst = this.tree.measured.length === 1 && attempt.parent !== null;
    if (isFirst) await this.#learnNoise(attempt);
  }

  /**
   * Corrects the score of a version that claims to be the best by what the withheld rows show. Returns why that is not
   * possible, or null.
   */
  async #correct(attempt: Attempt, { evidence }: Measured): Promise<string | null> {
    const { best } = this.tree;
    if (this.#heldOut === null || best?.measured == null) return null;
    const { noiseTest } = this.evaluator;
    const before = best.measured.evidence.first;
    const claimed = noiseTest.gain(evidence.first, before);
    if (claimed <= noiseTest.minGain) return null;
    const checked = await this.#heldOut.check(attempt, best, claimed);
    if ('problem' in checked) return `it can't be measured on withheld rows: ${checked.problem}`;
    const { gain, said } = checked;
    this.#environment.note({ Observed: `What version ${attempt.id} predicts of withheld rows ${said}.` });
    if (gain !== claimed) evidence.first = noiseTest.shifted(before, gain);
    return null;
  }

  async #isNewBest(attempt: Attempt): Promise<boolean> {
    const { noiseTest, measuresNoise } = this.evaluator;
    const best = this.tree.best?.measured;
    if (attempt.measured === null) return false;
    if (best == null) return true;
    const { evidence } = attempt.measured;
    const gain = noiseTest.gain(evidence.first, best.evidence.first);
    if (gain <= noiseTest.minGain) return false;
    // Between later versions, a change without effect does no harm; what is graded anyway must not be replaced by luck.
    if (this.#heldOut !== null || this.tree.best !== this.tree.attempts[0]) return true;
    if (measuresNoise && !noiseTest.isClear(evidence.first, best.evidence)) {
      const second = await this.evaluator.again(attempt, 1, this.#budget.left);
      if (second === null) return false;
      evidence.second = second;
    }
    return noiseTest.isBetter(evidence, best.evidence);
  }

  #takeAsBest(attempt: Attempt): void {
    this.tree.choose(attempt);
    // Selected immediately, because a limit may end the run at any time.
    if (attempt.view !== null) this.#environment.select(attempt.view.branch);
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
    const selection = await this.#selection(reference);
    if (selection === null) return '';
    const { chosen, said } = selection;
    if (chosen !== this.tree.best) {
      this.#takeAsBest(chosen);
      this.tree.record(chosen);
    }
    this.#environment.note({ Decision: `${said} I submit ${chosen.id}.` });
    return said;
  }

  async #selection(reference: Attempt): Promise<{ chosen: Attempt; said: string } | null> {
    if (this.#heldOut !== null) {
      const mayRun = () => !this.#budget.isOver && this.#budget.left.seconds > roundSeconds(this.#slowest);
      const { noiseTest } = this.evaluator;
      return await selectHeldOut(this.tree, reference, { heldOut: this.#heldOut, noiseTest, mayRun });
    }
    const isNeeded =
      this.evaluator.measuresNoise && needsSelection(this.tree, reference, this.evaluator.noiseTest);
    const left = () => ({ ...this.#budget.left, steps: this.#budget.left.steps - 1 });
    return isNeeded ? await selectFinalist(this.tree, reference, this.evaluator, left, this.#slowest) : null;
  }

  #mayTry(): boolean {
    const { isOver, hasModelCalls } = this.#budget;
    const { seconds, steps: left } = this.#usable();
    const isEnough = left >= steps.least + 3 && seconds > 1.6 * this.#slowest + 1;
    return !isOver && hasModelCalls && isEnough && this.#idle < maxIdle;
  }

  get #slowest(): number {
    const seconds = [this.tree.attempts[0], this.tree.best].map((one) => one?.measured?.seconds ?? 0);
    return Math.max(...seconds);
  }

  #allotment(share: number): Allotment {
    const { seconds, steps: left } = this.#usable();
    const ofShare = Math.floor(share * left);
    const few =
      share === shares.portfolio
        ? Math.max(steps.portfolio, ofShare)
        : Math.max(steps.least + 3, Math.min(steps.most, ofShare));
    return {
      seconds: Math.min(seconds, Math.max(share * seconds, 4 * this.#slowest)),
      steps: Math.min(left, few),
    };
  }

  /** What is left for attempts: the selection and the answer need a part. */
  #usable(): Allotment {
    const { left } = this.#budget;
    const kept = this.#keptForSelection();
    return { seconds: left.seconds - kept.seconds, steps: left.steps - kept.steps - 1 };
  }

  #keptForSelection(): Allotment {
    const round = roundSeconds(this.#slowest);
    if (this.#heldOut !== null) return { seconds: 1.5 * round, steps: stepsOfPart };
    const { whole } = this.#budget;
    const most = shares.selection * whole.seconds;
    const [root] = this.tree.attempts;
    const isNeeded =
      this.evaluator.measuresNoise &&
      root !== undefined &&
      needsSelection(this.tree, root, this.evaluator.noiseTest);
    // What is too little to select with is better spent on attempts.
    if (!isNeeded || most < round) return { seconds: 1, steps: 0 };
    return {
      seconds: Math.min(most, 1.5 * selectionNeeds.runs * this.#slowest + 2),
      steps: Math.min(Math.floor(shares.selection * whole.steps), selectionNeeds.steps),
    };
  }
}
