import type { Workspace } from '../common/workspace.ts';
import { isTimeLike } from '../search/metric-names.ts';
import { NoiseMeter } from '../search/noise-meter.ts';
import { NoiseTest } from '../search/noise-test.ts';
import { toldOf } from '../search/trial-outcome.ts';
import type { TryEnding } from './climb.ts';
import { sameResults } from './same-results.ts';
import { isOwn, isVersion, measuredAs, type Trials, type Version } from './trial.ts';
import { seedsSplitData } from './versions.ts';

/** A script is cheap if the remaining time is enough for this many runs: then its noise is measured first. */
const runsOfCheap = 6;
/** How automl's decision ends if a run of the starter takes too much of the budget. */
export const tooSmallForSearch = 'the budget is too small for a search.';

/**
 * How the printed scores of automl's own model compare with those of the starter. `stricter`: its folds separate rows in
 * the way in which the rows to predict are separate; a starter that splits at random looks better than it is.
 * `incomparable`: the model was better on rows withheld from both, whatever the starter prints.
 */
export type ScoresOfOwn = 'comparable' | 'stricter' | 'incomparable';

/** A version to measure against the best one. */
export interface ProposedVersion {
  source: string;
  operator: 'rewrite' | 'tune';
  /** The version that it was made from. */
  from: Version;
  /** The expected time of one run. */
  seconds: number;
  /** The change and its reason, for the notes. */
  notes: Record<string, string>;
  /** More than numbers is changed: if a time is measured, the output must show that the results stay the same. */
  changesCode?: boolean;
}

/** Why a version is kept, or is not. */
interface Judged {
  ending: TryEnding;
  why: string;
}

/** The knowledge about the versions of a script that were tried: which one is the best, and how good it is. */
export class Study {
  readonly workspace: Workspace;
  readonly trials: Trials;
  /** The version that others are compared with at the end: the starter, or the model in place of a useless one. */
  readonly first: Version;
  readonly #selects: boolean;
  /** What every version must print again, besides its score: only for a metric that is a time. */
  readonly #printed: string[] = [];
  noise: NoiseMeter;
  scoresOfOwn: ScoresOfOwn = 'comparable';

  /**
   * Starts from a version that was measured. `selects`: whether the best version is measured again at the end.
   */
  constructor(trials: Trials, first: Version, selects: boolean) {
    this.workspace = trials.workspace;
    this.trials = trials;
    this.first = first;
    this.#selects = selects;
    this.noise = this.#unmeasured();
    if (isTimeLike(this.workspace.task.metric)) this.#printed.push(first.measured.printed);
  }

  /**
   * Checks the submission of the first version, and measures how exact a score is by a second run: immediately if runs
   * are cheap, otherwise only when a change looks better. Returns why a search is not possible, or null.
   */
  async start(): Promise<string | null> {
    const { pace } = this.trials;
    const { seconds } = this.first.measured;
    if (!pace.affords(seconds)) return tooSmallForSearch;
    this.trials.isAccepted = isOwn(this.first) || (await this.trials.check());
    return pace.affords(seconds, runsOfCheap) ? await this.#measureNoise() : null;
  }

  /** The version to submit, as far as is known. */
  get best(): Version {
    const { best } = this.trials.tree;
    return isVersion(best) ? best : this.first;
  }

  /** Whether a version is better than the best one, by more than the noise. */
  get noiseTest(): NoiseTest {
    return this.noise.test;
  }

  /** While the noise of the best version is not known. */
  #unmeasured(): NoiseMeter {
    const { metric } = this.workspace.task;
    const { trials, best } = this;
    const test = new NoiseTest(metric, best.measured.evidence, NoiseMeter.wayOf(best, metric));
    return new NoiseMeter(metric, test, ({ measured }, source) =>
      trials.run(source ?? '', trials.pace.limitOf(measured?.seconds ?? 0)),
    );
  }

  /** Learns that automl's own model has become the best version. */
  adopt(scores: ScoresOfOwn): void {
    this.scoresOfOwn = scores;
    // The noise of the starter says nothing about another script.
    this.noise = this.#unmeasured();
  }

  /** Whether the best version is measured again at the end: not if all scores are exact, or say nothing. */
  get selects(): boolean {
    const isExact = this.noiseTest.secondRun === 'not needed';
    return this.#selects && !isExact && !(isOwn(this.best) && this.scoresOfOwn === 'incomparable');
  }

  /** Runs the best version a second time; if that fails, the noise stays unknown. Returns why it could not run, or null. */
  async #measureNoise(): Promise<string | null> {
    const { evidence } = this.best.measured;
    this.workspace.note({
      Plan: 'I run the best version so far a second time.',
      Reason: `It scores ${evidence.first}; run again (${this.noiseTest.secondRun}), it shows how much of a score is luck.`,
    });
    const outcome = await this.noise.measure(this.best, seedsSplitData);
    if (outcome.kind === 'failed') {
      this.workspace.note({ Observed: `The second run gave no score: ${outcome.why}.` });
      return outcome.seconds > 0 ? null : `${outcome.why}.`;
    }
    if (this.#printed.length > 0) this.#printed.push(outcome.printed);
    this.workspace.note({
      Observed: `${outcome.line}; the first run scored ${evidence.first}.`,
      Decision: `I keep a change only if it gains more than ${short(this.noiseTest.threshold)}.`,
    });
    return null;
  }

  /** Whether there is time for a try of this many expected seconds, for the steps after it, and for the end. */
  affords(seconds: number): boolean {
    const { pace } = this.trials;
    const both = this.first.measured.seconds + seconds;
    return pace.affords(seconds, 1, this.selects ? pace.savedForSelection(both) : undefined);
  }

  /** Runs a version, and keeps it as the best one if it is better by more than the noise. */
  async consider(proposed: ProposedVersion): Promise<TryEnding> {
    const { source, from, operator, notes, seconds, changesCode } = proposed;
    const { metric } = this.workspace.task;
    const way = metric.direction === 'maximize' ? 'rises' : 'falls';
    this.workspace.note({
      ...notes,
      Prediction:
        `If it helps, the script's own ${metric.name} ${way} from ${this.best.measured.evidence.first} by more than ` +
        `${short(this.noiseTest.threshold)}. The run takes about ${short(seconds)} s.`,
    });
    const attempt = this.trials.begin(operator, from, notes.Change ?? '');
    const outcome = await this.trials.run(source, this.trials.pace.limitOf(seconds));
    attempt.measured = measuredAs(outcome, source);
    if (outcome.kind === 'failed' && outcome.timedOut) this.trials.pace.learnLimit(outcome.seconds);
    const { ending, why } = isVersion(attempt)
      ? await this.#judge(attempt, changesCode === true)
      : dropped('A failure is the worst score');
    const second = attempt.measured?.evidence.second ?? null;
    const again = second === null ? '' : ` Second run (${this.noiseTest.secondRun}): ${second}.`;
    this.workspace.note({
      Observed: `${toldOf(outcome)} (${short(outcome.seconds)} s).${again}`,
      Decision: `${why}: ${ending === 'kept' ? 'kept' : 'dropped'}.`,
    });
    this.trials.finish(attempt, ending === 'kept', why);
    return ending;
  }

  async #judge(version: Version, changesCode: boolean): Promise<Judged> {
    const { score, printed } = version.measured;
    const { threshold } = this.noiseTest;
    const gain = this.noiseTest.gain(score, this.best.measured.evidence.first);
    if (gain === 0) return { ending: 'without effect', why: 'The score did not change at all' };
    if (gain <= threshold) return dropped(`A gain of ${short(gain)} is not above ${short(threshold)}`);
    const { metric } = this.workspace.task;
    const difference = sameResults(this.#printed, printed, metric, changesCode);
    if (difference !== null) return dropped(`Faster, but ${difference}`);
    if (this.trials.isAccepted === true && !(await this.trials.check()))
      return dropped('Better, but its submission is not accepted');
    version.view = await this.trials.fork();
    return await this.#confirm(version);
  }

  /** Keeps a promising version if its gain is confirmed. If the noise is unknown, it is measured first, if that may decide. */
  async #confirm(version: Version): Promise<Judged> {
    const { pace } = this.trials;
    const { evidence: than, seconds: before } = this.best.measured;
    const { evidence, seconds } = version.measured;
    const isUnclear = this.noiseTest.noise === null && !this.noiseTest.isClear(evidence.first, than);
    if (isUnclear && pace.affords(Math.max(before, seconds), 2)) await this.#measureNoise();
    const { threshold } = this.noiseTest;
    const gain = this.noiseTest.gain(evidence.first, than.first);
    if (gain <= threshold) return dropped(`Not above ${short(threshold)}, what chance alone makes`);
    const doubt = await this.noise.confirm(version, than, () => pace.affords(seconds));
    if (doubt !== null) return dropped(doubt);
    return { ending: 'kept', why: `A gain of ${short(gain)}, more than ${short(threshold)}` };
  }
}

function dropped(why: string): Judged {
  return { ending: 'dropped', why };
}

/** A number for people: four significant digits. */
export function short(value: number): string {
  return String(Number(value.toPrecision(4)));
}
