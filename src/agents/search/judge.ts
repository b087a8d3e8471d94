import type { Environment } from '../../environment/index.ts';
import type { Allotment } from './branch-view.ts';
import type { Evaluator } from './evaluator.ts';
import { selectionShare } from './fresh-seeds.ts';
import { HeldOutRows, type HoldOut, stepsOfPart } from './held-out-rows.ts';
import type { SearchBudget } from './search-budget.ts';
import type { Attempt, Measured, SearchTree } from './search-tree.ts';
import { needsSelection, roundSeconds, selectFinalist, selectionNeeds } from './select-finalist.ts';
import { selectHeldOut } from './select-held-out.ts';

/** With less time than for so many runs of the starter, what judging costs is better spent on attempts. */
const leastRuns = 30;

/**
 * Decides which version is the best: by rows that are withheld from versions where that is possible, otherwise by how
 * much of a score is luck; with little time by printed scores alone.
 */
export class Judge {
  readonly #environment: Environment;
  readonly #tree: SearchTree;
  readonly #evaluator: Evaluator;
  readonly #budget: SearchBudget;
  #heldOut: HeldOutRows | null = null;

  constructor(environment: Environment, tree: SearchTree, evaluator: Evaluator, budget: SearchBudget) {
    this.#environment = environment;
    this.#tree = tree;
    this.#evaluator = evaluator;
    this.#budget = budget;
  }

  /** Prepares for what comes, with the first version that was measured; takes no time if there is little. */
  async begin(reference: Attempt, holdOut: HoldOut | null): Promise<void> {
    if (!this.#budget.affordsRuns(leastRuns, reference.measured?.seconds ?? Number.POSITIVE_INFINITY)) return;
    if (holdOut !== null && (await this.#withholdRows(reference, holdOut))) return;
    await this.#evaluator.measureNoise(reference, this.#budget.left);
    const { noise, threshold } = this.#evaluator.noiseTest;
    this.#environment.note({
      Observed: `Run again, version ${reference.id} shows a noise of ${(noise ?? 0).toPrecision(2)}; a gain must exceed ${threshold.toPrecision(2)}.`,
    });
  }

  /** Whether rows are withheld from now on, so that new best versions are checked on these. */
  async #withholdRows(reference: Attempt, holdOut: HoldOut): Promise<boolean> {
    const prepared = await HeldOutRows.prepare(holdOut, reference, async (of, use) => {
      const view = await this.#evaluator.fork(of, this.#budget.now, this.#budget.left);
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

  /**
   * Corrects the score of a version that claims to be the best by what the withheld rows show. Returns why that is not
   * possible, or null.
   */
  async correct(attempt: Attempt, { evidence }: Measured): Promise<string | null> {
    const { best } = this.#tree;
    if (this.#heldOut === null || best?.measured == null) return null;
    const { noiseTest } = this.#evaluator;
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

  /** Whether a version with a corrected score is better than the best one; may run it once more. */
  async isNewBest(attempt: Attempt, { evidence }: Measured): Promise<boolean> {
    const { noiseTest, measuresNoise } = this.#evaluator;
    const best = this.#tree.best?.measured;
    if (best == null) return true;
    if (noiseTest.gain(evidence.first, best.evidence.first) <= noiseTest.minGain) return false;
    // Between later versions, a change without effect does no harm; what is graded anyway must not be replaced by luck.
    if (this.#heldOut !== null || this.#tree.best !== this.#tree.attempts[0]) return true;
    if (measuresNoise && !noiseTest.isClear(evidence.first, best.evidence)) {
      const second = await this.#evaluator.again(attempt, 1, this.#budget.left);
      if (second === null) return false;
      evidence.second = second;
    }
    return noiseTest.isBetter(evidence, best.evidence);
  }

  /** The version to submit, and why; null if the best one needs no further measurement, or if there is no time. */
  async select(reference: Attempt): Promise<{ chosen: Attempt; said: string } | null> {
    const { noiseTest, measuresNoise } = this.#evaluator;
    const { slowest } = this.#tree;
    if (this.#heldOut !== null) {
      const mayRun = () => !this.#budget.isOver && this.#budget.left.seconds > roundSeconds(slowest);
      return await selectHeldOut(this.#tree, reference, { heldOut: this.#heldOut, noiseTest, mayRun });
    }
    if (!measuresNoise || !needsSelection(this.#tree, reference, noiseTest)) return null;
    const left = () => ({ ...this.#budget.left, steps: this.#budget.left.steps - 1 });
    return await selectFinalist(this.#tree, reference, this.#evaluator, left);
  }

  /** What `select` would need at present. */
  get keptForSelection(): Allotment {
    const { slowest } = this.#tree;
    const round = roundSeconds(slowest);
    if (this.#heldOut !== null) return { seconds: 1.5 * round, steps: stepsOfPart };
    const { whole } = this.#budget;
    const most = selectionShare * whole.seconds;
    const [root] = this.#tree.attempts;
    const { noiseTest, measuresNoise } = this.#evaluator;
    const isNeeded = measuresNoise && root !== undefined && needsSelection(this.#tree, root, noiseTest);
    // What is too little to select with is better spent on attempts.
    if (!isNeeded || most < round) return { seconds: 1, steps: 0 };
    return {
      seconds: Math.min(most, 1.5 * selectionNeeds.runs * slowest + 2),
      steps: Math.min(Math.floor(selectionShare * whole.steps), selectionNeeds.steps),
    };
  }
}
