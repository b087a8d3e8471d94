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

export interface Compared {
  /** Which rows are withheld. */
  part: number;
  /** The answers of another version; empty if there are none. */
  other: string;
  /** The answers of several versions, whose mean is measured; then nothing is run. */
  members?: readonly string[];
}

/** What can be done with a task whose rows can be withheld, each on a branch of its own. */
export interface RowHolder {
  /** Runs the version on a branch without the answers of some rows, and compares its answers with others. */
  measure(view: BranchView, compared: Compared): Promise<HeldOut | { problem: string }>;
  /** The submission on a branch, in a form that only `average` reads; null if it is too long to be passed on. */
  submission(view: BranchView): Promise<string | null>;
  /** Makes the submission on a branch the mean of it and others; whether that worked and is accepted. */
  average(view: BranchView, others: readonly string[]): Promise<boolean>;
}

/** Finds out on a branch whether a task's rows can be withheld. */
export type HoldOut = (view: BranchView) => Promise<RowHolder | { problem: string }>;

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
  readonly #holder: RowHolder;
  readonly #onBranch: OnBranch;
  /** By part. */
  readonly #answers = [0, ...lastParts].map(() => new Map<Attempt, string>());

  private constructor(holder: RowHolder, onBranch: OnBranch) {
    this.#holder = holder;
    this.#onBranch = onBranch;
  }

  /** Measures the version that others are compared with first, or says why rows can't be withheld. */
  static async prepare(
    holdOut: HoldOut,
    reference: Attempt,
    onBranch: OnBranch,
  ): Promise<HeldOutRows | { problem: string }> {
    const holder = await onBranch(reference, holdOut);
    if ('problem' in holder) return holder;
    const rows = new HeldOutRows(holder, onBranch);
    const found = await rows.#run(reference, 0);
    return 'problem' in found ? found : rows;
  }

  async #run(of: Attempt, part: number, than: Attempt | null = null): ReturnType<RowHolder['measure']> {
    const other = than === null ? '' : this.#answersOf(than, part);
    const found = await this.#onBranch(of, (view) => this.#holder.measure(view, { part, other }));
    if (!('problem' in found)) this.#answers[part]?.set(of, found.answers);
    return found;
  }

  #answersOf(attempt: Attempt, part: number): string {
    return this.#answers[part]?.get(attempt) ?? '';
  }

  /**
   * What counts of the gain that a version claims over the best one: all of it if the withheld rows do not show less;
   * otherwise only what they show, if that is a loss or more than one standard error. Never more than it claims, since
   * the claims of later versions are compared with it.
   */
  async check(
    attempt: Attempt,
    best: Attempt,
    claimed: number,
  ): Promise<{ gain: number; said: string } | { problem: string }> {
    const found = await this.#run(attempt, 0, best);
    if ('problem' in found) return found;
    const { gain, error } = found.gain ?? { gain: 0, error: 0 };
    const measured = told({ gain, error });
    if (gain - claimed > contradiction * error)
      return { gain: claimed, said: `is better than its claim: ${measured}` };
    if (claimed - gain <= contradiction * error)
      return { gain: claimed, said: `agrees with its claim: ${measured}` };
    return { gain: gain > error ? gain : Math.min(gain, 0), said: `contradicts its claim: ${measured}` };
  }

  /**
   * The gain of the best version over another one on rows that decided nothing so far, and that of each part; null if it
   * can't be measured.
   */
  async atEnd(
    best: Attempt,
    reference: Attempt,
    mayRun: () => boolean,
  ): Promise<{ gain: Gain; said: string } | null> {
    const gains: Gain[] = [];
    for (const part of lastParts) {
      const before = mayRun() ? await this.#run(reference, part) : null;
      if (before === null || 'problem' in before) break;
      const found = await this.#run(best, part, reference);
      if ('problem' in found || found.gain === null) break;
      gains.push(found.gain);
    }
    if (gains.length === 0) return null;
    const mean = gains.reduce((sum, { gain }) => sum + gain, 0) / gains.length;
    const error = Math.hypot(...gains.map(({ error }) => error)) / gains.length;
    return { gain: { gain: mean, error }, said: gains.map(told).join(' and ') };
  }

  /**
   * The versions whose answers, averaged with those of the best one, are better than these alone by more than one standard
   * error, and that gain; null if there are none. After `atEnd`.
   */
  async partners(
    best: Attempt,
    others: readonly Attempt[],
    mayRun: () => boolean,
  ): Promise<{ members: Attempt[]; gain: Gain } | null> {
    const [part = 1] = lastParts;
    const alone = this.#answersOf(best, part);
    let chosen: { members: Attempt[]; gain: Gain } | null = null;
    for (const other of others) {
      if (alone === '' || !mayRun() || 'problem' in (await this.#run(other, part))) continue;
      const members: Attempt[] = [...(chosen?.members ?? []), other];
      const answers = [best, ...members].map((one) => this.#answersOf(one, part));
      const compared = { part, other: alone, members: answers };
      const found = await this.#onBranch(best, (view) => this.#holder.measure(view, compared));
      if ('problem' in found || found.gain === null || found.gain.gain <= found.gain.error) continue;
      if (chosen === null || found.gain.gain > chosen.gain.gain) chosen = { members, gain: found.gain };
    }
    return chosen;
  }

  /** A branch whose submission is the mean of the best version's and those of others; null if that is not possible. */
  async average(best: Attempt, members: readonly Attempt[]): Promise<BranchView | null> {
    const others: string[] = [];
    for (const member of members) {
      const text = await this.#onBranch(member, (branch) => this.#holder.submission(branch));
      if (text === null) return null;
      others.push(text);
    }
    return await this.#onBranch(best, async (view) =>
      (await this.#holder.average(view, others)) ? view : null,
    );
  }
}

export function told({ gain, error }: Gain): string {
  return `${gain >= 0 ? '+' : '−'}${Number(Math.abs(gain).toPrecision(3))} ± ${Number(error.toPrecision(2))}`;
}
