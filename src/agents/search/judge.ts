import type { Metric } from '../../schema/index.ts';

/** How a second measurement of a version is made, so that luck is not taken for progress. */
export type SecondRun = 'other seeds' | 'same again' | 'not needed';

/** What was measured of one version: once, or twice in the two ways that all versions are measured. */
export interface Evidence {
  first: number;
  second: number | null;
}

/** Gains below this share of the starter's score are not worth a change. */
const leastShare = 0.001;

/** A gain of this many times the noise needs no second look. */
const clear = 5;
/** As long as nobody measured the noise and there is no time for it, a gain must be this share of the score. */
const shareUnmeasured = 0.02;

/** Decides whether one version is better than another, by more than the noise. */
export class Judge {
  readonly #sign: 1 | -1;
  readonly secondRun: SecondRun;
  /** A gain up to this is not worth a change, however sure it is; in the unit of the metric. */
  readonly leastGain: number;
  /** A gain must exceed this, in the unit of the metric. */
  readonly threshold: number;
  /** Half the distance of the starter's two scores, whatever makes it; null where it was not measured. */
  readonly noise: number | null;

  /**
   * The noise is the standard error of the starter's mean over its two runs, half their distance. Where the two
   * runs differ by how the data is split, versions are compared on the same two splits, and their distance says
   * nothing of that comparison: there, both gains must be positive, and no more is asked.
   * `worth` is the least gain that counts, as a share of the starter's score. Without a second score nothing is known of
   * the noise, unless no second run is needed.
   */
  constructor(
    metric: Metric,
    starter: Evidence,
    secondRun: SecondRun,
    seedsSplitData = false,
    worth = leastShare,
  ) {
    this.#sign = metric.direction === 'maximize' ? 1 : -1;
    this.secondRun = secondRun;
    const half = starter.second === null ? null : Math.abs(starter.first - starter.second) / 2;
    this.noise = secondRun === 'not needed' ? 0 : half;
    this.leastGain = Math.abs(starter.first) * worth;
    this.threshold = Math.max(seedsSplitData ? 0 : (this.noise ?? 0), this.leastGain);
  }

  /** How much better a score is than another, negative where it is worse. */
  gain(score: number, than: number): number {
    return this.#sign * (score - than);
  }

  /** Whether a first measurement deserves a second one. */
  isPromising(first: number, best: Evidence): boolean {
    return this.gain(first, best.first) > this.threshold;
  }

  /** Whether a first measurement is so much better that a second one would be a waste of steps. */
  isClear(first: number, best: Evidence): boolean {
    const gain = this.gain(first, best.first);
    return this.noise === null
      ? gain > shareUnmeasured * Math.abs(best.first)
      : gain > clear * Math.max(this.noise, this.threshold);
  }

  isBetter(evidence: Evidence, best: Evidence): boolean {
    const gains = [this.gain(evidence.first, best.first)];
    if (evidence.second !== null && best.second !== null) gains.push(this.gain(evidence.second, best.second));
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    return gains.every((gain) => gain > 0) && mean > this.threshold;
  }

  /**
   * Whether gains on fresh seeds exceed the noise: their mean must be worth a change and above its standard error, as
   * in the rule of Breiman, Friedman, Olshen and Stone, Classification and Regression Trees (1984), to take the
   * simplest version within one standard error of the best; here that is the starter. A single gain has no standard
   * error: it must exceed what the search asks for.
   */
  isBeyondNoise(gains: readonly number[]): boolean {
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    if (gains.length < 2) return mean > this.threshold;
    const squares = gains.reduce((sum, gain) => sum + (gain - mean) ** 2, 0);
    const standardError = Math.sqrt(squares / (gains.length - 1) / gains.length);
    return mean > Math.max(standardError, this.leastGain);
  }
}
