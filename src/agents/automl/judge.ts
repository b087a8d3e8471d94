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

/** Decides whether one version is better than another, by more than the noise. */
export class Judge {
  readonly #sign: 1 | -1;
  readonly secondRun: SecondRun;
  /** A gain must exceed this, in the unit of the metric. */
  readonly threshold: number;

  /**
   * The noise is the standard error of the starter's mean over its two runs, half their distance. Where the two
   * runs differ by how the data is split, versions are compared on the same two splits, and their distance says
   * nothing of that comparison: there, both gains must be positive, and no more is asked.
   */
  constructor(metric: Metric, starter: Evidence, secondRun: SecondRun, seedsSplitData: boolean) {
    this.#sign = metric.direction === 'maximize' ? 1 : -1;
    this.secondRun = secondRun;
    const noise =
      starter.second === null || seedsSplitData ? 0 : Math.abs(starter.first - starter.second) / 2;
    this.threshold = Math.max(noise, Math.abs(starter.first) * leastShare);
  }

  /** How much better a score is than another, negative where it is worse. */
  gain(score: number, than: number): number {
    return this.#sign * (score - than);
  }

  /** Whether a first measurement deserves a second one. */
  isPromising(first: number, best: Evidence): boolean {
    return this.gain(first, best.first) > this.threshold;
  }

  isBetter(evidence: Evidence, best: Evidence): boolean {
    const gains = [this.gain(evidence.first, best.first)];
    if (evidence.second !== null && best.second !== null) gains.push(this.gain(evidence.second, best.second));
    const mean = gains.reduce((sum, gain) => sum + gain, 0) / gains.length;
    return gains.every((gain) => gain > 0) && mean > this.threshold;
  }
}
