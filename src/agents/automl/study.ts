import type { TaskBrief } from '../../schema/index.ts';
import type { Workspace } from '../common/workspace.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { type Evidence, NoiseTest, type SecondRun } from '../search/noise-test.ts';
import { type Candidate, changesOf, sourceOf } from './candidate.ts';
import type { Knob } from './knobs.ts';
import { maxEpochs } from './most-epochs.ts';
import { Pace, type Reserve } from './pace.ts';
import { sameResults } from './same-results.ts';
import { leftForTries } from './savings.ts';
import type { Ending, Version } from './strategy.ts';
import type { Outcome, TrialRunner } from './trial.ts';
import { ScriptVersions } from './versions.ts';

/** A script is cheap if the remaining time is enough for this many runs: then its noise is measured first. */
const runsOfCheap = 6;

/** The number of tried versions, by outcome. */
export interface Tally {
  tried: number;
  kept: number;
  failed: number;
}

/** A version to measure against the best one. */
export interface Attempt extends Version {
  script: ScriptVersions;
  story: readonly string[];
  /** Expected seconds of a run. */
  seconds: number;
  /** The change and its reason, for the notes. */
  notes: Record<string, string>;
  /** More than numbers is changed: if a time is measured, the output must show that the results stay the same. */
  changesCode?: boolean;
}

type Measured = Outcome & { kind: 'measured' };

/** The knowledge about a script that runs, and about every tried version of it: the best one, and how good it is. */
export class Study {
  readonly #workspace: Workspace;
  readonly #runner: TrialRunner;
  readonly #selects: boolean;
  readonly #checksSubmission: boolean;
  readonly #starter: Candidate;
  /** What every version must print again, besides its score: only for a metric that is a time. */
  #printed: readonly string[] = [];
  /** Versions that were kept, the best one last, without the starter. */
  readonly #kept: Candidate[] = [];
  #best: Candidate;
  #noiseTest: NoiseTest | null = null;
  readonly pace = new Pace();
  readonly tally: Tally = { tried: 0, kept: 0, failed: 0 };

  /**
   * Starts from a script that was run and measured. `checksSubmission`: its submission was accepted; `selects`: whether
   * the best versions are measured again at the end.
   */
  constructor(
    workspace: Workspace,
    runner: TrialRunner,
    source: string,
    { score, seconds, printed }: Measured,
    { checksSubmission, selects }: { checksSubmission: boolean; selects: boolean },
  ) {
    this.#workspace = workspace;
    this.#runner = runner;
    this.#checksSubmission = checksSubmission;
    this.#selects = selects;
    const script = versionsOf(source, workspace.task);
    const values = script.knobs.map(({ value }) => value);
    const evidence = { first: score, second: null };
    this.#starter = { script, story: [], values, evidence, seconds };
    this.#best = this.#starter;
    if (isTimeLike(workspace.task.metric)) this.#printed = [printed];
  }

  get best(): Candidate {
    return this.#best;
  }

  get starter(): Candidate {
    return this.#starter;
  }

  /** Null before the noise is measured. */
  get noiseTest(): NoiseTest | null {
    return this.#noiseTest;
  }

  /** Whether the best versions are measured again at the end: not if all scores are exact. */
  get selects(): boolean {
    return this.#selects && this.#noiseTest !== null && this.#noiseTest.secondRun !== 'not needed';
  }

  /** The best version and the one that was best before it, if changes were kept. */
  get finalists(): Candidate[] {
    return this.#kept.slice(-2).reverse();
  }

  /** The changes of the best version from the starter; empty for the starter. */
  get changes(): string[] {
    return changesOf(this.#best);
  }

  get bestSource(): string {
    return sourceOf(this.#best);
  }

  /** Makes one of the kept versions, or the starter, the best. */
  settle(candidate: Candidate): void {
    this.#best = candidate;
  }

  /** What must be left for the best version at the end. */
  get reserve(): Reserve {
    const isDear = this.pace.isDear(this.#best.seconds, this.#workspace.budget);
    return isDear && this.#runner.canPutBack(this.bestSource) ? 'copied' : this.#best.seconds;
  }

  /**
   * Measures how exact a score is, by a second run of the starter: immediately if runs are cheap, otherwise only when a
   * change looks better. Returns why not, if there is no time or budget for a search.
   */
  async start(): Promise<string | null> {
    const { seconds } = this.#starter;
    const { budget } = this.#workspace;
    this.#noiseTest = this.#unmeasured();
    if (this.pace.affords(seconds, runsOfCheap, this.reserve, budget)) return await this.#measureNoise();
    if (this.pace.affords(seconds, 1, this.reserve, budget)) return null;
    return 'the budget leaves no room for a search.';
  }

  /** The noise test of the best version while its noise is unknown. */
  #unmeasured(): NoiseTest {
    return new NoiseTest(this.#workspace.task.metric, this.#best.evidence, this.#secondRun());
  }

  /** Other data would be other work: a time is measured on the same data. */
  #secondRun(): SecondRun {
    const hasSeeds = this.#best.script.seeds.length > 0;
    return hasSeeds && !isTimeLike(this.#workspace.task.metric) ? 'other seeds' : 'same again';
  }

  /** Runs the best version a second time. Returns why it gave no score, or null. */
  async #measureNoise(): Promise<string | null> {
    const { script, evidence, seconds } = this.#best;
    const { metric } = this.#workspace.task;
    const way = this.#secondRun();
    this.#workspace.note({
      Plan: 'I run the best version so far a second time.',
      Reason: `It scores ${evidence.first}; run again (${way}), it shows how much of a score is luck.`,
    });
    const outcome = await this.#run(this.#best, way === 'other seeds' ? 1 : 0);
    // Beside other work, a run may take far longer than the first one, which says nothing about its score.
    if (outcome?.kind === 'failed' && outcome.timedOut) return null;
    if (outcome === null || outcome.kind === 'failed')
      return `a second run of it gave no score: ${outcome?.why ?? 'not enough budget'}.`;
    const isExact = outcome.score === evidence.first;
    evidence.second = isExact ? null : outcome.score;
    const splits = way === 'other seeds' && script.seedsSplitData();
    this.#noiseTest = new NoiseTest(metric, evidence, isExact ? 'not needed' : way, splits);
    this.#best.seconds = Math.max(seconds, outcome.seconds);
    if (isTimeLike(metric)) this.#printed = [...this.#printed, outcome.printed];
    this.#workspace.note({
      Observed: `${outcome.line}; the first run scored ${evidence.first}.`,
      Decision: `I keep a change only if it gains more than ${short(this.#noiseTest.threshold)}.`,
    });
    return null;
  }

  /** Whether there is time for a try of this many expected seconds, for the steps after it, and for the end. */
  affords(seconds: number): boolean {
    const runs = this.#noiseTest?.secondRun === 'not needed' || this.reserve === 'copied' ? 1 : 2;
    const measuredAgain = this.selects ? [this.#starter.seconds, seconds] : [];
    const budget = leftForTries(this.#workspace.budget, measuredAgain);
    return !this.#workspace.ended && this.pace.affords(seconds, runs, this.reserve, budget);
  }

  /** Runs a version, and keeps it as the best one if it is better by more than the noise. Needs a noise test. */
  async consider(attempt: Attempt): Promise<Ending> {
    const noiseTest = this.#noiseTest;
    if (noiseTest === null) throw new Error('nothing can be judged before the noise was measured');
    this.#workspace.note({ ...attempt.notes, Prediction: this.#predict(attempt, noiseTest) });
    const outcome = await this.#run(attempt);
    const { ending, observed, decision } = await this.#judgeOutcome(noiseTest, attempt, outcome);
    this.#workspace.note({ Observed: observed, Decision: decision });
    this.tally.tried += 1;
    if (ending !== 'kept') await this.#putBack();
    return ending;
  }

  /**
   * Makes a replacement of the best script the best one, after it ran, was checked and scored better. `isStricter`: its
   * score is from folds that are harder than the starter's own.
   */
  adopt(source: string, story: string, { score, seconds }: Measured, isStricter: boolean): void {
    const script = versionsOf(source, this.#workspace.task);
    const values = script.knobs.map(({ value }) => value);
    const evidence = { first: score, second: null };
    this.#best = { script, story: [story], values, evidence, seconds, isOwn: true, isStricter };
    this.#kept.push(this.#best);
    this.tally.kept += 1;
    // The noise of the starter says nothing about another script.
    this.#noiseTest = this.#unmeasured();
  }

  #predict({ seconds }: Attempt, noiseTest: NoiseTest): string {
    const { metric } = this.#workspace.task;
    const way = metric.direction === 'maximize' ? 'rises' : 'falls';
    return (
      `If it helps, the script's own ${metric.name} ${way} from ${this.#best.evidence.first} by more than ` +
      `${short(noiseTest.threshold)}. The run takes about ${short(seconds)} s.`
    );
  }

  async #judgeOutcome(
    noiseTest: NoiseTest,
    attempt: Attempt,
    outcome: Outcome | null,
  ): Promise<{ ending: Ending; observed: string; decision: string }> {
    if (outcome === null || outcome.kind === 'failed') {
      this.tally.failed += 1;
      if (outcome?.timedOut === true) this.pace.learnLimit(outcome.seconds);
      const observed = `${outcome?.why ?? 'it could not be run'}.`;
      return { ending: 'put back', observed, decision: 'A failure is the worst score: put back.' };
    }
    const observed = `${outcome.line} (${short(outcome.seconds)} s).`;
    const { first } = this.#best.evidence;
    const endAs = (ending: Ending, decision: string) => ({ ending, observed, decision });
    if (outcome.score === first) return endAs('without effect', 'The score did not change at all: put back.');
    if (!noiseTest.isPromising(outcome.score, this.#best.evidence)) {
      const gain = short(noiseTest.gain(outcome.score, first));
      return endAs('put back', `A gain of ${gain} is not above ${short(noiseTest.threshold)}: put back.`);
    }
    const difference = this.#differenceIn(outcome, attempt.changesCode === true);
    if (difference !== null) return endAs('put back', `Faster, but ${difference}: put back.`);
    if (this.#checksSubmission && (await this.#workspace.validateSubmission()).status !== 'ok')
      return endAs('put back', 'Better, but its submission is not accepted: put back.');
    const known = noiseTest.noise === null ? await this.#judgeBeside(attempt, outcome) : noiseTest;
    if (known.isPromising(outcome.score, this.#best.evidence))
      return await this.#confirm(known, attempt, outcome, observed);
    return endAs('put back', `Not above ${short(known.threshold)}, what chance alone makes: put back.`);
  }

  /** Measures the noise of the best version if a change looks better but not by much, and time allows. */
  async #judgeBeside(attempt: Attempt, outcome: Measured): Promise<NoiseTest> {
    const before = this.#noiseTest ?? this.#unmeasured();
    if (before.isClear(outcome.score, this.#best.evidence)) return before;
    await this.#keepIfDear(attempt, outcome.seconds);
    const seconds = this.#best.seconds + outcome.seconds;
    if (this.pace.affords(seconds, 1, this.reserve, this.#workspace.budget)) await this.#measureNoise();
    return this.#noiseTest ?? before;
  }

  /**
   * Why a version does not compute the same as the starter, as far as its output shows; null for metrics other than
   * times.
   */
  #differenceIn({ printed }: Measured, isProofNeeded: boolean): string | null {
    return sameResults(this.#printed, printed, this.#workspace.task.metric, isProofNeeded);
  }

  /**
   * Measures a promising version a second time if one measurement is not enough, and keeps it if the gain is confirmed.
   */
  async #confirm(
    noiseTest: NoiseTest,
    attempt: Attempt,
    outcome: Measured,
    observed: string,
  ): Promise<{ ending: Ending; observed: string; decision: string }> {
    const evidence: Evidence = { first: outcome.score, second: null };
    let seen = observed;
    let slower = 0;
    if (noiseTest.secondRun !== 'not needed' && !noiseTest.isClear(outcome.score, this.#best.evidence)) {
      const isAffordable = this.pace.affords(outcome.seconds, 1, this.reserve, this.#workspace.budget);
      const raisedBy = noiseTest.secondRun === 'other seeds' ? 1 : 0;
      if (isAffordable) await this.#keepIfDear(attempt, outcome.seconds);
      const again = isAffordable ? await this.#run(attempt, raisedBy) : null;
      if (again === null || again.kind === 'failed') {
        const why = isAffordable ? 'a second run gave no score' : 'there is no time for a second run';
        return { ending: 'put back', observed: seen, decision: `Better once, but ${why}: put back.` };
      }
      evidence.second = again.score;
      slower = again.seconds;
      seen += ` Second run (${noiseTest.secondRun}): ${again.line}.`;
    }
    if (!noiseTest.isBetter(evidence, this.#best.evidence)) {
      const decision = 'Better once, but not beyond the noise: put back.';
      return { ending: 'put back', observed: seen, decision };
    }
    const gain = short(noiseTest.gain(evidence.first, this.#best.evidence.first));
    const { script, story, values } = attempt;
    const { isOwn = false, isStricter = false } = script === this.#best.script ? this.#best : {};
    // Run times vary: the slower one is assumed.
    const seconds = Math.max(outcome.seconds, slower);
    this.#best = { script, story, values, evidence, seconds, isOwn, isStricter };
    this.#kept.push(this.#best);
    this.tally.kept += 1;
    return {
      ending: 'kept',
      observed: seen,
      decision: `A gain of ${gain}, more than ${short(noiseTest.threshold)}: kept.`,
    };
  }

  /**
   * Otherwise the submission of a version with its own seeds would be lost when it, or another one, runs with other
   * seeds.
   */
  async #keepIfDear(attempt: Attempt, seconds: number): Promise<void> {
    if (this.pace.isDear(seconds, this.#workspace.budget))
      await this.#runner.keep(sourceOf(attempt), this.bestSource);
  }

  /** Null if the version is not valid Python, or the run is over. */
  async #run(version: Omit<Candidate, 'evidence'>, raisedBy = 0): Promise<Outcome | null> {
    const { script, values, seconds } = version;
    const source = script.render(values, raisedBy);
    if (source === null || this.#workspace.ended) return null;
    if (this.reserve === 'copied') await this.#runner.keep(this.bestSource, source);
    const limit = this.pace.limitOf(seconds, this.reserve, this.#workspace.budget);
    return await this.#runner.run(source, limit);
  }

  /**
   * The next try overwrites the script anyway; but a broken script, or one that is itself submitted, must not stay in
   * place. Neither must an incomplete submission of a failed run: then the best version is run again.
   */
  async #putBack(): Promise<void> {
    const { entry, submission } = this.#workspace.task;
    const hasFailed = this.#runner.hasFailed;
    if (this.#workspace.ended || !(hasFailed || submission.files.some(({ path }) => path === entry))) return;
    if ((await this.#runner.putBack(this.bestSource)) !== null) return;
    await this.#runner.write(this.bestSource);
    if (!hasFailed || !this.#checksSubmission || this.#workspace.ended) return;
    if ((await this.#workspace.validateSubmission()).status === 'ok') return;
    if (!this.pace.affordsLastRun(this.#best.seconds, 3, this.#workspace.budget)) return;
    this.#workspace.note({
      Observed: 'The failed run left a submission that is not accepted.',
      Decision: 'I run the best version again, so that a valid one is in place.',
    });
    await this.#runner.run(this.bestSource);
  }
}

/** A script as the numbers that a task allows to change. */
export function versionsOf(source: string, { metric, problem }: TaskBrief): ScriptVersions {
  // A number that changes what is computed also changes how long it takes: that would be less work, not faster work.
  const timeLike = isTimeLike(metric);
  const accepts = (knob: Knob) => !timeLike || /chunk|block|tile|buffer/i.test(knob.name);
  const epochs = maxEpochs(problem);
  if (epochs === null) return new ScriptVersions(source, accepts);
  return new ScriptVersions(source, accepts, (knob) =>
    /epoch/i.test(knob.name) ? { ...knob.prior, most: Math.max(knob.value, epochs) } : knob.prior,
  );
}

/** A number for people: four significant digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
