import type { Knob } from './knobs.ts';
import type { IsAffordable } from './strategy.ts';

/** Shorter scripts are run in full: a scout would save nothing worth speaking of. */
const leastSeconds = 3;
/** A scout runs this share of the rounds. */
const shareOfRounds = 1 / 4;
/** Of so many scouts the best one is run in full. */
const heatSize = 3;

interface Scout {
  values: readonly number[];
  /** Null for a crash, and as long as it has not ended. */
  loss: number | null;
}

/**
 * Successive halving with two rungs (Jamieson and Talwalkar, AISTATS 2016; Hyperband, Li et al., JMLR 18, 2018): a heat
 * of versions is run with a quarter of the rounds, and the best third of them in full, if it is better than the best
 * version with as few. Scouts have equally many rounds in a heat, and are compared with each other alone.
 */
export class Scouts {
  /** Place of the number that says how long the script trains; null where there are no scouts. */
  readonly length: number | null;
  #heat: Scout[] = [];
  #running: Scout | null = null;
  /** The scout of the best version: what the others must beat. */
  #measure: Scout | null = null;

  constructor(knobs: readonly Knob[], seconds: number) {
    const place = knobs.findIndex(({ prior }) => prior.isLength);
    this.length = place < 0 || seconds < leastSeconds ? null : place;
  }

  /** A version with fewer rounds; null where that is not to be had. */
  shortOf(values: readonly number[]): readonly number[] | null {
    const rounds = this.length === null ? 0 : (values[this.length] ?? 0);
    const fewer = Math.round(rounds * shareOfRounds);
    return this.length === null || fewer < 1 ? null : values.with(this.length, fewer);
  }

  /** A scout was started, and its heat is not over. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** Whether the heat has room for another scout. */
  get hasRoom(): boolean {
    return this.#heat.length < heatSize;
  }

  /** Whether the scout of this version, the best one, was not run yet. */
  needsMeasure(best: readonly number[]): boolean {
    return this.#measure?.values !== best;
  }

  /** The scout of a version is run next; `isMeasure`: it is that of the best one. */
  start(values: readonly number[], isMeasure: boolean): void {
    this.#running = { values, loss: null };
    if (isMeasure) this.#measure = this.#running;
    else this.#heat.push(this.#running);
  }

  /** Learns how the scout that was started last ended. */
  tell(loss: number | null): void {
    if (this.#running !== null) this.#running.loss = loss;
  }

  /** Ends the heat. What it returns is to be run in full; null where no scout was better than that of the best version. */
  finish(isNew: IsAffordable): readonly number[] | null {
    const goal = this.#measure?.loss ?? Number.POSITIVE_INFINITY;
    const lossOf = ({ loss }: Scout) => loss ?? Number.POSITIVE_INFINITY;
    const [winner] = this.#heat.toSorted((left, right) => lossOf(left) - lossOf(right));
    this.#heat = [];
    this.#running = null;
    return winner !== undefined && lossOf(winner) < goal && isNew(winner.values) ? winner.values : null;
  }
}
