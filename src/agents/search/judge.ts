import type { Environment } from '../../environment/index.ts';
import type { Allotment } from './branch-view.ts';
import type { Evaluator } from './evaluator.ts';
import { rounds, selectionShare } from './fresh-seeds.ts';
import { HeldOutRows, type HoldOut, stepsOfPart, told } from './held-out-rows.ts';
import { scoreOf } from './policies.ts';
import type { SearchBudget } from './search-budget.ts';
import { type Attempt, lineage, type Measured, type SearchTree } from './search-tree.ts';

/** With less time than for so many runs of the starter, what judging costs is better spent on attempts. */
const leastRuns = 30;
/** The runs of a round of the selection on fresh seeds: of the best version and of the one that it is compared with. */
const runsOfRound = 2;
/** A lead of this many times the noise needs no further runs. */
const clearLead = 5;
/** The number of versions, besides the best one, that may be averaged with it. */
const mostPartners = 2;

/** The version to submit, and why. */
interface Selection {
  chosen: Attempt;
  said: string;
}

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
    await this.#evaluator.noise.measure(reference);
    const { noise, threshold } = this.#evaluator.noiseTest;
    this.#environment.note({
      Observed: `Run again, version ${reference.id} shows a noise of ${(noise ?? 0).toPrecision(2)}; a gain must exceed ${threshold.toPrecision(2)}.`,
    });
  }

  /** Whether rows are withheld from now on, so that new best versions are checked on these. */
  async #withholdRows(reference: Attempt, holdOut: HoldOut): Promise<boolean> {
    const prepared = await HeldOutRows.prepare(holdOut, reference, async (of, use) => {
      const view = await this.#evaluator.fork(of);
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
    const { noise, noiseTest } = this.#evaluator;
    const best = this.#tree.best?.measured;
    if (best == null) return true;
    if (noiseTest.gain(evidence.first, best.evidence.first) <= noiseTest.minGain) return false;
    // Between later versions, a change without effect does no harm; what is graded anyway must not be replaced by luck.
    if (this.#heldOut !== null || this.#tree.best !== this.#tree.attempts[0]) return true;
    return (await noise.confirm(attempt, best.evidence, () => !this.#budget.isOver)) === null;
  }

  /** Null if the best version needs no further measurement, or if there is no time. */
  async select(reference: Attempt): Promise<Selection | null> {
    const { best } = this.#tree;
    if (best === null || best === reference) return null;
    if (this.#heldOut !== null) return await this.#selectHeldOut(best, reference, this.#heldOut);
    return this.#needsFreshRuns(reference) ? await this.#selectOnFreshSeeds(best, reference) : null;
  }

  /** Whether the lead of the best version over the reference may be luck. */
  #needsFreshRuns(reference: Attempt): boolean {
    const { noiseTest, measuresNoise } = this.#evaluator;
    const { best } = this.#tree;
    if (!measuresNoise || best?.measured == null || best === reference) return false;
    if (reference.measured === null) return false;
    const lead = noiseTest.pairedGain(best.measured.evidence, reference.measured.evidence);
    return lead <= clearLead * noiseTest.threshold;
  }

  /** In pairs of runs on seeds that were not used for any choice, the gain must be beyond the noise. */
  async #selectOnFreshSeeds(best: Attempt, reference: Attempt): Promise<Selection | null> {
    const mayRun = () => {
      const { seconds, steps } = this.#budget.left;
      return seconds >= this.#roundSeconds && steps >= 2 * runsOfRound + 2;
    };
    const found = await this.#evaluator.noise.compare(reference, best, mayRun);
    return found === null ? null : { chosen: found.isBetter ? best : reference, said: found.said };
  }

  /**
   * On rows that decided nothing before: the best version, if its gain over the reference exceeds one standard error; if
   * so, its mean with versions of other kinds, if that is better than it alone.
   */
  async #selectHeldOut(best: Attempt, reference: Attempt, heldOut: HeldOutRows): Promise<Selection | null> {
    const mayRun = () => !this.#budget.isOver && this.#budget.left.seconds > this.#roundSeconds;
    const found = await heldOut.atEnd(best, reference, mayRun);
    if (found === null) return null;
    const { gain } = found;
    const said = `On withheld rows that had decided nothing, ${best.id} gained ${found.said} over ${reference.id}.`;
    if (gain.gain <= gain.error) return { chosen: reference, said };
    const ensemble = await this.#averageWithOthers(best, heldOut, mayRun);
    return ensemble === null ? { chosen: best, said } : { ...ensemble, said: `${said} ${ensemble.said}` };
  }

  /** Null if no mean is better than the best version alone, or if its submission can't be made. */
  async #averageWithOthers(
    best: Attempt,
    heldOut: HeldOutRows,
    mayRun: () => boolean,
  ): Promise<Selection | null> {
    const { noiseTest } = this.#evaluator;
    const others = this.#tree.measured
      .filter((one) => one.status === 'kept' && !lineage(best).includes(one) && !lineage(one).includes(best))
      .toSorted((one, other) => noiseTest.gain(scoreOf(other), scoreOf(one)))
      .slice(0, mostPartners);
    const found = await heldOut.partners(best, others, mayRun);
    if (found === null) return null;
    const { members, gain } = found;
    const names = [best, ...members].map(({ id }) => id).join(', ');
    const other = members[0] ?? null;
    const attempt = this.#tree.begin('ensemble', best, { why: 'they are better together', other });
    attempt.change = `the mean of what versions ${names} predict`;
    attempt.view = await heldOut.average(best, members);
    if (attempt.view === null) {
      this.#tree.finish(attempt, 'failed', 'its submission could not be made, or was not accepted');
      this.#tree.record(attempt);
      return null;
    }
    attempt.measured = best.measured;
    const said = `The mean of ${names} gained ${told(gain)} over ${best.id}.`;
    this.#tree.finish(attempt, 'kept', said);
    return { chosen: attempt, said };
  }

  /** The time that a round of the selection may take. */
  get #roundSeconds(): number {
    return 1.5 * runsOfRound * this.#tree.slowest + 2;
  }

  /** What `select` would need at present. */
  get keptForSelection(): Allotment {
    const round = this.#roundSeconds;
    if (this.#heldOut !== null) return { seconds: 1.5 * round, steps: stepsOfPart };
    const { whole } = this.#budget;
    const most = selectionShare * whole.seconds;
    const [root] = this.#tree.attempts;
    // What is too little to select with is better spent on attempts.
    if (root === undefined || !this.#needsFreshRuns(root) || most < round) return { seconds: 1, steps: 0 };
    const runs = rounds.least * runsOfRound;
    return {
      seconds: Math.min(most, 1.5 * runs * this.#tree.slowest + 2),
      // Each script is written before its run.
      steps: Math.min(Math.floor(selectionShare * whole.steps), 2 * runs + 1),
    };
  }
}
