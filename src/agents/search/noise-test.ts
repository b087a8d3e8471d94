import type { Metric } from '../../schema/index.ts';

/** How a version is measured a second time, so that luck does not count as progress. */
export type SecondRun = 'other seeds' | 'same again' | 'not needed';

/** The measurements of one version: once, or twice in the two ways in which all versions are measured. */
export interface VersionScores {
  first: number;
  second: number | null;
}

/** Gains below this share of the starter's score are not worth a change. */
const minShare = 0.001;

/** A gain of this many times the noise needs no second measurement. */
const clear = 5;
/** If the noise was not measured and there is no time for it, a gain must be at least this share of the score. */
const shareUnmeasured = 0.02;

/** Decides whether one version is better than another, by more than the noise. */
export class NoiseTest {
  readonly #sign: 1 | -1;
  readonly secondRun: SecondRun;
  /** A gain up to this is not worth a change, however certain it is; in the unit of the metric. */
  readonly minGain: number;
  /** A gain must exceed this, in the unit of the metric. */
  readonly threshold: number;
  /** Half the difference of the starter's two scores, whatever causes it; null if it was not measured. */
  readonly noise: number | null;

  /**
   * The noise is the standard error of the starter's mean over its two runs, half their difference. If the two runs
   * differ in how the data is split, versions are compared on the same two splits, and the difference says nothing
   * about that comparison: then both gains must be positive, and nothing else is required. `worth` is the least gain
   * that counts, as a share of the starter's score. Without a second score the noise is unknown, unless no second run
   * is needed.
   */
  constructor(
    metric: Metric,
    starter: VersionScores,
    secondRun: SecondRun,
    seedsSplitData = false,
    worth = minShare,
  ) {
    this.#sign = metric.direction === 'maximize' ? 1 : -1;
    this.secondRun = secondRun;
    const half = starter.second === null ? null : Math.abs(starter.first - starter.second) / 2;
    this.noise = secondRun === 'not needed' ? 0 : half;
    this.minGain = Math.abs(starter.first) * worth;
    this.threshold = Math.max(seedsSplitData ? 0 : (this.noise ?? 0), this.minGain);
  }

  /** How much better one score is than another; negative if it is worse. */
  gain(score: number, than: number): number {
    return this.#sign * (score - than);
  }

  /** The score that is better than another one by this gain. */
  shifted(score: number, gain: number): number {
    return score + this.#sign * gain;
  }

  /** Whether a first measurement is so much better that a second one would waste steps. */
  isClear(first: number, best: VersionScores): boolean {
    const gain = this.gain(first, best.first);
    return this.noise === null
      ? gain > shareUnmeasured * Math.abs(best.first)
      : gain > clear * Math.max(this.noise, this.threshold);
  }

  isBetter(evidence: VersionScores, best: VersionScores): boolean {
    const gains = this.#pairedGains(evidence, best);
    return gains.every((gain) => gain > 0) && this.pairedGain(evidence, best) > this.threshold;
  }

  /** The mean gain over the runs that both have. */
  pairedGain(evidence: VersionScores, than: VersionScores): number {
    const gains = this.#pairedGains(evidence, than);
    return gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
  }

  #pairedGains(evidence: VersionScores, than: VersionScores): number[] {
    const gains = [this.gain(evidence.first, than.first)];
    if (evidence.second !== null && than.second !== null) gains.push(this.gain(evidence.second, than.second));
    return gains;
  }

  /**
   * Whether gains on fresh seeds exceed the noise: their mean must be worth a change and exceed its standard error.
   * This follows the rule of Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), to take
   * the simplest version within one standard error of the best; here that is the starter. A single gain has no standard
   * error: it must exceed the threshold of the search.
   */
  isBeyondNoise(gains: readonly number[]): boolean {
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    if (gains.length < 2) return mean > this.threshold;
    const squares = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
    const standardError = Math.sqrt(squares / (gains.length - 1) / gains.length);
    return mean > Math.max(standardError, this.minGain);
  }
}
