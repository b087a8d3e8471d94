import type { Environment } from '../../environment/index.ts';
import type { Budget } from '../../schema/index.ts';
import { readWholeFile } from '../common/read-whole-file.ts';
import { Workspace } from '../common/workspace.ts';
import { type Allotment, BranchView } from './branch-view.ts';
import { withFreshSeeds } from './fresh-seeds.ts';
import { isTimeLike } from './metric-names.ts';
import { readMetric } from './metric-reader.ts';
import { NoiseTest, type SecondRun } from './noise-test.ts';
import type { Attempt, Measured } from './search-tree.ts';

/** Runs versions on branches and reads their scores: the script's own claims, except for the cases in `problemOf`. */
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
  async measure(view: BranchView): Promise<Measured | { why: string; output: string }> {
    const workspace = new Workspace(view);
    const { entry, metric } = view.task;
    if (view.freshRun === null) await workspace.executeScript(entry);
    const run = view.freshRun;
    if (run === null) return { why: 'the budget ended before it was run', output: '' };
    const { status, observation: output, durationMs } = run.result;
    if (status !== 'ok') return { why: `its script ended as ${status}`, output };
    const reading = readMetric(output, metric);
    if (reading === null) return { why: `it printed no ${metric.name} that can be read`, output };
    const { value, line, other } = reading;
    if (other !== (this.#printsOther ?? other))
      return { why: `what it printed, "${line}", is not the metric of the other versions`, output };
    const source = run.source ?? (await sourceOf(view));
    const problem = problemOf(value, line, source);
    if (problem !== null) return { why: problem, output };
    if (run.result.submission.stale)
      return { why: 'it wrote no submission: what lies there is of an earlier version', output };
    const check = await workspace.validateSubmission();
    if (check.status !== 'ok')
      return { why: 'its submission was not accepted', output: `${output}\n${check.observation}` };
    this.#printsOther = other;
    const evidence = { first: value, second: null };
    return { evidence, line, run: { ...run, source }, seconds: durationMs / 1000 };
  }

  /** Runs a version that others are compared with once more, to learn how exact a score is. */
  async measureNoise(of: Attempt, allotted: Allotment): Promise<void> {
    if (of.measured === null) return;
    const { metric } = this.#environment.task;
    const { evidence, run } = of.measured;
    const isSeeded = run.source !== null && withFreshSeeds(run.source, 1) !== run.source;
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
    const { source } = measured.run;
    const fresh = source === null || this.#way !== 'other seeds' ? source : withFreshSeeds(source, raisedBy);
    if (fresh !== null && fresh !== source) await workspace.writeFile(task.entry, fresh);
    const { status, observation } = await workspace.executeScript(task.entry);
    this.#follow(fork);
    const value = status === 'ok' ? (readMetric(observation, task.metric)?.value ?? null) : null;
    return value !== null && Number.isFinite(value) ? value : null;
  }

  /** A branch of its own, forked at the end of a version's branch. */
  async fork({ view, measured }: Attempt, now: Budget, allotted: Allotment): Promise<BranchView> {
    if (view === null) throw new Error('a version without a branch was never run');
    const run = measured?.run ?? view.freshRun;
    return new BranchView(this.#environment, await view.fork(), now, allotted, run);
  }
}

/** The current script of a branch; null if it cannot be read completely. */
async function sourceOf(view: BranchView): Promise<string | null> {
  if (view.source !== null) return view.source;
  const file = await readWholeFile(new Workspace(view), view.task.entry);
  return 'text' in file ? file.text : null;
}

/** Why a score is not credible; null if there is no reason for doubt. */
function problemOf(value: number, line: string, source: string | null): string | null {
  if (!Number.isFinite(value)) return `it printed a score that is no number: "${line}"`;
  const size = Math.abs(value);
  const digits = line
    .match(/\d+\.\d{3,}/g)
    ?.filter((each) => [size, size * 100].some((known) => Math.abs(Number(each) - known) < 1e-9 * known));
  const isWritten =
    source?.includes(line) === true || digits?.some((each) => source?.includes(each)) === true;
  return isWritten ? `what it printed, "${line}", stands in its source: it was not measured` : null;
}
