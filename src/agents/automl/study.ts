import type { Workspace } from '../common/workspace.ts';
import { withFreshSeeds } from '../search/fresh-seeds.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { NoiseTest, type SecondRun, type VersionScores } from '../search/noise-test.ts';
import type { TryEnding } from './climb.ts';
import { Pace } from './pace.ts';
import { sameResults } from './same-results.ts';
import type { MeasuredTrial, TrialOutcome, TrialRunner } from './trial.ts';
import { seedsSplitData } from './versions.ts';

/** A script is cheap if the remaining time is enough for this many runs: then its noise is measured first. */
const runsOfCheap = 6;

/** How automl's decision ends if a run of the starter takes too much of the budget. */
export const tooSmallForSearch = 'the budget is too small for a search.';
/** A share of the starter's score that rewrites of it hardly gain. */
const farAhead = 0.2;

/** A version of the script. */
interface Version {
  source: string;
  /** How it was made from the starter, in words; empty for the starter. */
  changes: readonly string[];
  /** Seconds of one run; expected ones before it was run. */
  seconds: number;
}

/**
 * How the printed scores of automl's own model compare with those of the starter. `stricter`: its folds separate rows in
 * the way in which the rows to predict are separate; a starter that splits at random looks better than it is.
 * `incomparable`: the model was better on rows withheld from both, whatever the starter prints.
 */
export type ScoresOfOwn = 'comparable' | 'stricter' | 'incomparable';

/** A version that was measured. */
export interface Candidate extends Version {
  evidence: VersionScores;
  /** The script is automl's own, with nothing of the starter in it. */
  isOwn: boolean;
  /** Of automl's own script, beside the starter's. */
  scores?: ScoresOfOwn;
}

/** A version to measure against the best one. */
export interface ProposedVersion extends Version {
  operator: 'rewrite' | 'tune';
  /** The version that it was made from. */
  from: string;
  /** The change and its reason, for the notes. */
  notes: Record<string, string>;
  /** More than numbers is changed: if a time is measured, the output must show that the results stay the same. */
  changesCode?: boolean;
}

interface Judged {
  ending: TryEnding;
  /** What the run printed. */
  seen: string;
  why: string;
}

/** The knowledge about a script that runs, and about every tried version of it: the best one, and how good it is. */
export class Study {
  readonly workspace: Workspace;
  readonly runner: TrialRunner;
  readonly #selects: boolean;
  readonly #pace: Pace;
  readonly starter: Candidate;
  /** What every version must print again, besides its score: only for a metric that is a time. */
  readonly #printed: string[] = [];
  /** The version to submit, as far as is known. */
  best: Candidate;
  /** Whether a version is better than the best one, by more than the noise. */
  noiseTest: NoiseTest;
  /** The starter's submission is accepted, so that of each other version must be. */
  #checksSubmission = true;

  /**
   * Starts from a script that was run and measured. `isOwn`: it is automl's own, and its submission was accepted;
   * `selects`: whether the best version is measured again at the end.
   */
  constructor(
    runner: TrialRunner,
    source: string,
    { score, seconds, printed }: MeasuredTrial,
    { isOwn, selects }: { isOwn: boolean; selects: boolean },
  ) {
    this.workspace = runner.workspace;
    this.runner = runner;
    this.#selects = selects;
    this.#pace = new Pace(this.workspace);
    this.starter = { source, changes: [], evidence: { first: score, second: null }, seconds, isOwn };
    this.best = this.starter;
    this.noiseTest = this.#unmeasured();
    if (isTimeLike(this.workspace.task.metric)) this.#printed.push(printed);
  }

  /** Whether the best version is measured again at the end: not if all scores are exact, or say nothing. */
  get selects(): boolean {
    const isExact = this.noiseTest.secondRun === 'not needed';
    return this.#selects && !isExact && this.best.scores !== 'incomparable';
  }

  /** Seconds that must be left for a last run: none if the submission of the best version is copied. */
  #lastRun(seconds = 0): number {
    return this.runner.keeps(this.best.source) ? 0 : Math.max(this.best.seconds, seconds);
  }

  /**
   * Checks and copies the starter's submission, and measures how exact a score is by a second run: immediately if runs
   * are cheap, otherwise only when a change looks better. Returns why a search is not possible, or null.
   */
  async start(): Promise<string | null> {
    const { source, seconds, isOwn } = this.starter;
    if (!this.#pace.affords(seconds, 1, this.runner.canKeep ? 0 : seconds)) return tooSmallForSearch;
    if (!isOwn) this.#checksSubmission = await this.#isAccepted();
    await this.runner.keep(source, source);
    return this.#affords(seconds, runsOfCheap) ? await this.#measureNoise() : null;
  }

  async #isAccepted(): Promise<boolean> {
    return (await this.workspace.validateSubmission()).status === 'ok';
  }

  /** The noise test of the best version while its noise is unknown. */
  #unmeasured(): NoiseTest {
    return new NoiseTest(this.workspace.task.metric, this.best.evidence, this.#secondRun());
  }

  #secondRun(): SecondRun {
    const { source } = this.best;
    return this.#withSeedsRaised(source, 1) === source ? 'same again' : 'other seeds';
  }

  /** Other data would be other work: a time is measured on the same data. */
  #withSeedsRaised(source: string, raisedBy: number): string {
    return isTimeLike(this.workspace.task.metric) ? source : withFreshSeeds(source, raisedBy);
  }

  /** Runs the best version a second time; if that fails, the noise stays unknown. Returns why it could not run, or null. */
  async #measureNoise(): Promise<string | null> {
    const { source, evidence, seconds } = this.best;
    const { metric } = this.workspace.task;
    const way = this.#secondRun();
    this.workspace.note({
      Plan: 'I run the best version so far a second time.',
      Reason: `It scores ${evidence.first}; run again (${way}), it shows how much of a score is luck.`,
    });
    const outcome = await this.runAgain(this.best, 1);
    if (outcome.kind === 'failed') {
      this.workspace.note({ Observed: `The second run gave no score: ${outcome.why}.` });
      return outcome.seconds > 0 ? null : `${outcome.why}.`;
    }
    const isExact = outcome.score === evidence.first;
    evidence.second = isExact ? null : outcome.score;
    const splits = way === 'other seeds' && seedsSplitData(source);
    this.noiseTest = new NoiseTest(metric, evidence, isExact ? 'not needed' : way, splits);
    this.best.seconds = Math.max(seconds, outcome.seconds);
    if (isTimeLike(metric)) this.#printed.push(outcome.printed);
    this.workspace.note({
      Observed: `${outcome.line}; the first run scored ${evidence.first}.`,
      Decision: `I keep a change only if it gains more than ${short(this.noiseTest.threshold)}.`,
    });
    return null;
  }

  /** Whether there is time for a try of this many expected seconds, for the steps after it, and for the end. */
  affords(seconds: number): boolean {
    const saved = this.selects ? this.#pace.savedForSelection(this.starter.seconds + seconds) : undefined;
    return this.#pace.affords(seconds, 1, this.#lastRun(seconds), saved);
  }

  /** Whether there is time to run the starter and the best version once more, and then to put one of them back. */
  get affordsRound(): boolean {
    const slowest = Math.max(this.starter.seconds, this.best.seconds);
    const areKept = [this.starter, this.best].every(({ source }) => this.runner.keeps(source));
    return this.#pace.affords(slowest, 2, areKept ? 0 : slowest);
  }

  #affords(seconds: number, runs = 1): boolean {
    return this.#pace.affords(seconds, runs, this.#lastRun(seconds));
  }

  /** Runs a version, and keeps it as the best one if it is better by more than the noise. */
  async consider(attempt: ProposedVersion): Promise<TryEnding> {
    const { source, from, operator, notes } = attempt;
    const { metric } = this.workspace.task;
    const way = metric.direction === 'maximize' ? 'rises' : 'falls';
    this.workspace.note({
      ...notes,
      Prediction:
        `If it helps, the script's own ${metric.name} ${way} from ${this.best.evidence.first} by more than ` +
        `${short(this.noiseTest.threshold)}. The run takes about ${short(attempt.seconds)} s.`,
    });
    const outcome = await this.#run(attempt);
    const { ending, seen, why } = await this.#judge(attempt, outcome);
    const isKept = ending === 'kept';
    this.workspace.note({ Observed: seen, Decision: `${why}: ${isKept ? 'kept' : 'put back'}.` });
    this.runner.attempts.add({ source, from, operator, change: notes.Change ?? '', outcome, isKept, why });
    if (!isKept) await this.#putBack();
    return ending;
  }

  /** Makes a replacement of the best script the best one, after it ran, was checked and was better. */
  async adopt(source: string, change: string, outcome: MeasuredTrial, scores: ScoresOfOwn): Promise<void> {
    await this.runner.keep(source, this.starter.source);
    const evidence = { first: outcome.score, second: null };
    const { seconds } = outcome;
    this.best = { source, changes: [change], evidence, seconds, isOwn: true, scores };
    // The noise of the starter says nothing about another script.
    this.noiseTest = this.#unmeasured();
  }

  /** Whether the starter is unlikely to overtake the best version. */
  get isFarAhead(): boolean {
    const { first } = this.starter.evidence;
    return this.noiseTest.gain(this.best.evidence.first, first) > farAhead * Math.abs(first);
  }

  /** Makes the starter the best version again. */
  goBack(): void {
    this.best = this.starter;
    this.runner.attempts.choose(this.starter.source);
  }

  async #judge(attempt: ProposedVersion, outcome: TrialOutcome): Promise<Judged> {
    if (outcome.kind === 'failed') {
      if (outcome.timedOut) this.#pace.learnLimit(outcome.seconds);
      return { ending: 'put back', seen: `${outcome.why}.`, why: 'A failure is the worst score' };
    }
    const seen = `${outcome.line} (${short(outcome.seconds)} s).`;
    const reject = (why: string): Judged => ({ ending: 'put back', seen, why });
    const { evidence } = this.best;
    const { threshold } = this.noiseTest;
    const gain = this.noiseTest.gain(outcome.score, evidence.first);
    if (gain === 0) return { ...reject('The score did not change at all'), ending: 'without effect' };
    if (gain <= threshold) return reject(`A gain of ${short(gain)} is not above ${short(threshold)}`);
    const { metric } = this.workspace.task;
    const difference = sameResults(this.#printed, outcome.printed, metric, attempt.changesCode === true);
    if (difference !== null) return reject(`Faster, but ${difference}`);
    if (this.#checksSubmission && !(await this.#isAccepted()))
      return reject('Better, but its submission is not accepted');
    // Otherwise the submission would be lost when it, or another version, runs with other seeds.
    await this.runner.keep(attempt.source, this.starter.source, this.best.source);
    return await this.#confirm(attempt, outcome, seen);
  }

  /**
   * Measures a promising version a second time if one measurement is not enough, and keeps it if the gain is confirmed.
   * If the noise is unknown, it is measured first, if that may decide and time allows.
   */
  async #confirm(attempt: ProposedVersion, outcome: MeasuredTrial, observed: string): Promise<Judged> {
    const { evidence: than, seconds: before } = this.best;
    const evidence: VersionScores = { first: outcome.score, second: null };
    let { seconds } = outcome;
    let seen = observed;
    const reject = (why: string): Judged => ({ ending: 'put back', seen, why });
    const isClear = () => this.noiseTest.isClear(evidence.first, than);
    if (this.noiseTest.noise === null && !isClear() && this.#affords(Math.max(before, seconds), 2))
      await this.#measureNoise();
    const { secondRun, threshold } = this.noiseTest;
    const gain = this.noiseTest.gain(evidence.first, than.first);
    if (gain <= threshold) return reject(`Not above ${short(threshold)}, what chance alone makes`);
    if (secondRun !== 'not needed' && !isClear()) {
      if (!this.#affords(seconds)) return reject('Better once, but there is no time for a second run');
      const again = await this.runAgain(attempt, 1);
      if (again.kind === 'failed') return reject('Better once, but a second run gave no score');
      evidence.second = again.score;
      // Run times vary: the slower one is assumed.
      seconds = Math.max(seconds, again.seconds);
      seen += ` Second run (${secondRun}): ${again.line}.`;
    }
    if (!this.noiseTest.isBetter(evidence, than)) return reject('Better once, but not beyond the noise');
    this.best = { source: attempt.source, changes: attempt.changes, evidence, seconds, isOwn: false };
    return { ending: 'kept', seen, why: `A gain of ${short(gain)}, more than ${short(threshold)}` };
  }

  /** Runs a version with every seed raised. */
  async runAgain(version: Version, raisedBy: number): Promise<TrialOutcome> {
    return await this.#run({ ...version, source: this.#withSeedsRaised(version.source, raisedBy) });
  }

  async #run({ source, seconds }: Version): Promise<TrialOutcome> {
    return await this.runner.run(source, this.#pace.limitOf(seconds, this.#lastRun()));
  }

  /**
   * The next try overwrites the script anyway; but a broken script, or one that is itself submitted, must not stay in
   * place, and neither must an incomplete submission of a failed run.
   */
  async #putBack(): Promise<void> {
    const { entry, submission } = this.workspace.task;
    const isSubmitted = submission.files.some(({ path }) => path === entry);
    if (!this.runner.hasFailed && !isSubmitted) return;
    if ((await this.runner.putBack(this.best.source)) === null) await this.runner.write(this.best.source);
  }
}

/** A number for people: four significant digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
