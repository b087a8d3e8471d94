import type { BranchView } from './branch-view.ts';
import type { Attempt } from './search-tree.ts';

/** How much better one version is than another on rows that neither saw, and the standard error of that. */
export interface Gain {
  gain: number;
  error: number;
}

export interface HeldOut {
  /** What the version says of these rows, in a form that only the measurer reads. */
  answers: string;
  /** Over the other version, in the unit of the metric; null if there is none. */
  gain: Gain | null;
}

/** Runs the version on a branch without the answers of one part of the rows, and compares it with the answers of another. */
export type MeasureHeldOut = (
  view: BranchView,
  part: number,
  other: string,
) => Promise<HeldOut | { problem: string }>;

/** Finds out on a branch whether a task's rows can be withheld. */
export type HoldOut = (view: BranchView) => Promise<MeasureHeldOut | { problem: string }>;

/** Does something on a branch of its own, forked from a version's. */
export type OnBranch = <Found>(of: Attempt, use: (view: BranchView) => Promise<Found>) => Promise<Found>;

/** The parts that decide only at the end. */
const lastParts = [1, 2];
/** Two versions are each written and run. */
export const stepsOfPart = 4;
/** A claim this many standard errors away from what was measured is contradicted by it. */
const contradiction = 2;

/**
 * Compares versions on rows of the training data that are withheld from them: what a version prints about itself is only
 * a claim. During the search all are compared on the same part of the rows.
 */
export class HeldOutRows {
  readonly #measure: MeasureHeldOut;
  readonly #onBranch: OnBranch;
  readonly #answers = new Map<Attempt, string>();

  private constructor(measure: MeasureHeldOut, onBranch: OnBranch) {
    this.#measure = measure;
    this.#onBranch = onBranch;
  }

  /** Measures the version that others are compared with first, or says why rows can't be withheld. */
  static async prepare(
    holdOut: HoldOut,
    reference: Attempt,
    onBranch: OnBranch,
  ): Promise<HeldOutRows | { problem: string }> {
    const measure = await onBranch(reference, holdOut);
    if ('problem' in measure) return measure;
    const rows = new HeldOutRows(measure, onBranch);
    const found = await rows.#run(reference, 0, '');
    if ('problem' in found) return found;
    rows.#answers.set(reference, found.answers);
    return rows;
  }

  #run(of: Attempt, part: number, other: string): ReturnType<MeasureHeldOut> {
    return this.#onBranch(of, (view) => this.#measure(view, part, other));
  }

  /**
   * Whether a version that claims to be better than the best one is. A claim counts if the withheld rows do not contradict
   * it; otherwise only they count.
   */
  async confirms(
    attempt: Attempt,
    best: Attempt,
    claimed: number,
  ): Promise<{ isBetter: boolean; said: string }> {
    const found = await this.#run(attempt, 0, this.#answers.get(best) ?? '');
    if ('problem' in found) return { isBetter: false, said: found.problem };
    this.#answers.set(attempt, found.answers);
    const { gain, error } = found.gain ?? { gain: 0, error: 0 };
    const isBelieved = Math.abs(claimed - gain) <= contradiction * error;
    const said = `${isBelieved ? 'agrees with' : 'contradicts'} its claim: ${told({ gain, error })}`;
    return { isBetter: isBelieved || gain > error, said };
  }

  /** The gain of the best version over another one on rows that decided nothing so far; null if it can't be measured. */
  async atEnd(best: Attempt, reference: Attempt, mayRun: () => boolean): Promise<Gain | null> {
    const gains: Gain[] = [];
    for (const part of lastParts) {
      const before = mayRun() ? await this.#run(reference, part, '') : null;
      if (before === null || 'problem' in before) break;
      const found = await this.#run(best, part, before.answers);
      if ('problem' in found || found.gain === null) break;
      gains.push(found.gain);
    }
    if (gains.length === 0) return null;
    const mean = gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length;
    return { gain: mean, error: Math.hypot(...gains.map(({ error }) => error)) / gains.length };
  }
}

export function told({ gain, error }: Gain): string {
  return `${gain >= 0 ? '+' : '−'}${Number(Math.abs(gain).toPrecision(3))} ± ${Number(error.toPrecision(2))}`;
}
