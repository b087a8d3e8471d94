import type { Environment } from '../../environment/index.ts';
import { readWholeFile } from '../common/read-whole-file.ts';
import { Workspace } from '../common/workspace.ts';
import { type Allotment, BranchView } from './branch-view.ts';
import { NoiseMeter } from './noise-meter.ts';
import { NoiseTest } from './noise-test.ts';
import type { SearchBudget } from './search-budget.ts';
import type { Attempt, Measured } from './search-tree.ts';
import { type FailedRun, failedRun, outcomeOf, type TrialOutcome } from './trial-outcome.ts';

/** Runs versions on branches and reads their scores: the script's own claims, unless they stand in the script. */
export class Evaluator {
  readonly #environment: Environment;
  readonly #budget: SearchBudget;
  readonly noise: NoiseMeter;
  /** Whether the first version that was measured prints another metric: then all must. */
  #printsOther: boolean | null = null;

  constructor(environment: Environment, budget: SearchBudget) {
    this.#environment = environment;
    this.#budget = budget;
    const { metric } = environment.task;
    // Until the noise is known, any gain counts.
    const unknown = new NoiseTest(metric, { first: 0, second: null }, 'not needed', false, 0);
    this.noise = new NoiseMeter(metric, unknown, (of, source) => this.#again(of, source));
  }

  get noiseTest(): NoiseTest {
    return this.noise.test;
  }

  get measuresNoise(): boolean {
    return this.noiseTest.secondRun !== 'not needed';
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

  async #again(of: Attempt, source: string | null): Promise<TrialOutcome> {
    const { entry, metric } = this.#environment.task;
    const fork = await this.fork(of);
    const workspace = new Workspace(fork);
    if (source !== null && source !== of.measured?.source) await workspace.writeFile(entry, source);
    const result = await workspace.executeScript(entry);
    this.#budget.follow(fork);
    return outcomeOf(result, metric, result.durationMs / 1000);
  }

  /** A branch of its own, forked at the end of a version's branch. */
  async fork({ view, measured }: Attempt, allotted: Allotment = this.#budget.left): Promise<BranchView> {
    if (view === null) throw new Error('a version without a branch was never run');
    const run = view.freshRun;
    const before = run === null ? null : { ...run, source: measured?.source ?? run.source };
    const branch = await view.branch.fork();
    return new BranchView(this.#environment, branch, this.#budget.now, allotted, before);
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
