import type { Metric } from '../../schema/index.ts';
import { rounds, withFreshSeeds } from './fresh-seeds.ts';
import { isTimeLike } from './metric-names.ts';
import { NoiseTest, type SecondRun, type VersionScores } from './noise-test.ts';
import type { Attempt } from './search-tree.ts';
import { failedRun, type TrialOutcome } from './trial-outcome.ts';

/** Runs the script of a version again, with this source. */
type RunAgain = (of: Attempt, source: string | null) => Promise<TrialOutcome>;

/** A comparison on seeds that chose nothing. */
interface FreshComparison {
  /** Whether the best version is better by more than the noise. */
  isBetter: boolean;
  /** In sentences. */
  said: string;
}

/** Knows how much of a score is luck, by running versions again, with other seeds if a script has any. */
export class NoiseMeter {
  /** Whether one version is better than another one, as far as the noise is known. */
  test: NoiseTest;
  readonly #metric: Metric;
  readonly #run: RunAgain;

  constructor(metric: Metric, test: NoiseTest, run: RunAgain) {
    this.#metric = metric;
    this.test = test;
    this.#run = run;
  }

  /** How a version would be measured a second time. */
  static wayOf({ measured }: Attempt, metric: Metric): SecondRun {
    return freshened(measured?.source ?? null, metric, 1) === measured?.source ? 'same again' : 'other seeds';
  }

  /** Runs a version once more, with every seed raised by this number. */
  async again(of: Attempt, raisedBy: number): Promise<TrialOutcome> {
    if (of.measured === null) return failedRun('it was not measured');
    return await this.#run(of, freshened(of.measured.source, this.#metric, raisedBy));
  }

  /**
   * Runs a version that others are compared with once more, to learn how exact a score is; nothing is learned if that
   * fails. `splitsData`: whether a seed of the script decides how its data is split.
   */
  async measure(of: Attempt, splitsData: (source: string) => boolean = () => false): Promise<TrialOutcome> {
    const outcome = await this.again(of, 1);
    if (outcome.kind === 'failed' || of.measured === null) return outcome;
    const { evidence, source } = of.measured;
    evidence.second = outcome.score === evidence.first ? null : outcome.score;
    const way = evidence.second === null ? 'not needed' : NoiseMeter.wayOf(of, this.#metric);
    const splits = way === 'other seeds' && source !== null && splitsData(source);
    this.test = new NoiseTest(this.#metric, { ...evidence }, way, splits);
    // Run times vary: the slower one is assumed.
    of.measured.seconds = Math.max(of.measured.seconds, outcome.seconds);
    return outcome;
  }

  /** Why a version with a better score is not better, or null. Runs it once more if one measurement is not enough. */
  async confirm(version: Attempt, than: VersionScores, mayRun: () => boolean): Promise<string | null> {
    const { measured } = version;
    if (measured === null) return 'it was not measured';
    const { evidence } = measured;
    if (this.test.secondRun !== 'not needed' && !this.test.isClear(evidence.first, than)) {
      if (!mayRun()) return 'Better once, but there is no time for a second run';
      const again = await this.again(version, 1);
      if (again.kind === 'failed') return 'Better once, but a second run gave no score';
      evidence.second = again.score;
      measured.seconds = Math.max(measured.seconds, again.seconds);
    }
    return this.test.isBetter(evidence, than) ? null : 'Better once, but not beyond the noise';
  }

  /**
   * Compares the best version with a reference in pairs of runs on fresh seeds; null if nothing could be measured. Without
   * the reference's score, nothing can be compared.
   * @param mayRun whether there is time for one more pair after so many
   */
  async compare(
    reference: Attempt,
    best: Attempt,
    mayRun: (done: number) => boolean,
  ): Promise<FreshComparison | null> {
    const scores: { before: number; after: number }[] = [];
    let hasFailed = false;
    while (!hasFailed && scores.length < rounds.most && mayRun(scores.length)) {
      const before = await this.again(reference, rounds.first + scores.length);
      if (before.kind === 'failed') break;
      const after = await this.again(best, rounds.first + scores.length);
      // Beside other work, a run may take far longer than before, which says nothing about its score.
      if (after.kind === 'failed' && after.timedOut) break;
      if (after.kind === 'failed') hasFailed = true;
      else scores.push({ before: before.score, after: after.score });
    }
    if (scores.length === 0 && !hasFailed) return null;
    const gains = scores.map(({ before, after }) => this.test.gain(after, before));
    const isBetter = !hasFailed && this.test.isBeyondNoise(gains);
    const ended = hasFailed
      ? 'failed'
      : `scored ${listed(scores.map(({ after }) => after))}; version ${reference.id} ${listed(scores.map(({ before }) => before))}`;
    const stays = isBetter
      ? ''
      : ` It is not better by more than the noise, so version ${reference.id} stays.`;
    return { isBetter, said: `In fresh runs version ${best.id} ${ended}.${stays}` };
  }
}

/** Other data would be other work: a time is measured on the same data. */
function freshened(source: string | null, metric: Metric, raisedBy: number): string | null {
  return source === null || isTimeLike(metric) ? source : withFreshSeeds(source, raisedBy);
}

/** As they were printed, so that each can be found in the output again. */
function listed(scores: readonly number[]): string {
  return new Intl.ListFormat('en').format(scores.map(String));
}
