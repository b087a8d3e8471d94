import type { Environment } from '../../environment/index.ts';
import type { Budget } from '../../schema/index.ts';
import { readWholeFile } from '../common/read-whole-file.ts';
import { Workspace } from '../common/workspace.ts';
import { type Allotment, BranchView } from './branch-view.ts';
import { withFreshSeeds } from './fresh-seeds.ts';
import { isTimeLike } from './metric-names.ts';
import { NoiseTest, type SecondRun } from './noise-test.ts';
import { type FailedRun, failedRun, outcomeOf } from './run-outcome.ts';
import type { Attempt, Measured } from './search-tree.ts';

/** Runs versions on branches and reads their scores: the script's own claims, unless they stand in the script. */
export class Evaluator {
  readonly #environment: Environment;
  readonly #follow: (view: BranchView) => void;
  noiseTest: NoiseTest;
  #way: SecondRun = 'not needed';
  /** Whether the first version that was measured prints another metric: then all must. */
  #printsOther: boolean | null = null;

  /** @param follow called with each branch that something was run on */
  constructor(environment: Environment, follow: (view: BranchView) => void) {
    this.#environment = environment;
    this.#follow = follow;
    // Until the noise is known, any gain counts.
    const unknown = { first: 0, second: null };
    this.noiseTest = new NoiseTest(environment.task.metric, unknown, 'not needed', false, 0);
  }

  get measuresNoise(): boolean {
    return this.#way !== 'not needed';
  }

  /** Measures the version on a branch, by the run that was made there if nothing was changed since. */
  async measure(view: BranchView): Promise<Measured | FailedRun> {
    const workspace = new Workspace(view);
    const { entry, metric } = view.task;
    if (view.freshRun === null) await workspace.executeScript(entry);
    const run = view.freshRun;
    if (run === null) return failedRun('the budget ended before it was run');
    const outcome = outcomeOf(run.result, metric, run.result.durationMs / 1000);
    if (outcome.kind === 'failed') return outcome;
    const { score, line, other, printed } = outcome;
    if (other !== (this.#printsOther ?? other))
      return failedRun(`what it printed, "${line}", is not the metric of the other versions`, { printed });
    const source = run.source ?? (await sourceOf(view));
    if (isWritten(score, line, source))
      return failedRun(`what it printed, "${line}", stands in its source: it was not measured`, { printed });
    if (run.result.submission.stale)
      return failedRun('it wrote no submission: what lies there is of an earlier version', { printed });
    const check = await workspace.validateSubmission();
    if (check.status !== 'ok')
      return failedRun('its submission was not accepted', { printed: `${printed}\n${check.observation}` });
    this.#printsOther = other;
    return { ...outcome, evidence: { first: score, second: null }, source };
  }

  /** Runs a version that others are compared with once more, to learn how exact a score is. */
  async measureNoise(of: Attempt, allotted: Allotment): Promise<void> {
    if (of.measured === null) return;
    const { metric } = this.#environment.task;
    const { evidence, source } = of.measured;
    const isSeeded = source !== null && withFreshSeeds(source, 1) !== source;
    this.#way = isSeeded && !isTimeLike(metric) ? 'other seeds' : 'same again';
    evidence.second = await this.again(of, 1, allotted);
    if (evidence.second === evidence.first) evidence.second = null;
    if (evidence.second === null) this.#way = 'not needed';
    this.noiseTest = new NoiseTest(metric, { ...evidence }, this.#way);
  }

  /** The score of one more run, with seeds raised by this number if there are any; null if it gave none. */
  async again(of: Attempt, raisedBy: number, allotted: Allotment): Promise<number | null> {
    const { view, measured } = of;
    if (view === null || measured === null) return null;
    const { task } = this.#environment;
    const fork = await this.fork(of, view.runBudget, allotted);
    const workspace = new Workspace(fork);
    const { source } = measured;
    const fresh = source === null || this.#way !== 'other seeds' ? source : withFreshSeeds(source, raisedBy);
    if (fresh !== null && fresh !== source) await workspace.writeFile(task.entry, fresh);
    const outcome = outcomeOf(await workspace.executeScript(task.entry), task.metric, 0);
    this.#follow(fork);
    return outcome.kind === 'measured' ? outcome.score : null;
  }

  /** A branch of its own, forked at the end of a version's branch. */
  async fork({ view, measured }: Attempt, now: Budget, allotted: Allotment): Promise<BranchView> {
    if (view === null) throw new Error('a version without a branch was never run');
    const run = view.freshRun;
    const before = run === null ? null : { ...run, source: measured?.source ?? run.source };
    return new BranchView(this.#environment, await view.branch.fork(), now, allotted, before);
  }
}

/** The current script of a branch; null if it cannot be read completely. */
async function sourceOf(view: BranchView): Promise<string | null> {
  if (view.source !== null) return view.source;
  const file = await readWholeFile(new Workspace(view), view.task.entry);
  return 'text' in file ? file.text : null;
}

/** Whether a score stands in the script that printed it. */
function isWritten(value: number, line: string, source: string | null): boolean {
  const size = Math.abs(value);
  const digits = line
    .match(/\d+\.\d{3,}/g)
    ?.filter((each) => [size, size * 100].some((known) => Math.abs(Number(each) - known) < 1e-9 * known));
  return source?.includes(line) === true || digits?.some((each) => source?.includes(each)) === true;
}
