/** The script with these numbers in their places. */
export interface Version {
  /** In the order of the knobs. */
  values: readonly number[];
  /** By how much every seed is raised. */
  seedOffset: number;
}

/** A version to try next. */
export interface Proposal extends Version {
  /** What is changed, and why, for the notes. */
  change: string;
  reason: string;
  /** A cheaper run, of fewer rounds, that only tells whether a dearer one is worth its time: it is never kept. */
  isScout?: boolean;
}

/** How a proposal ended; one without effect did not change the score at all, and only scouts are `scouted`. */
export type Ending = 'kept' | 'put back' | 'without effect' | 'scouted';

export type IsAffordable = (values: readonly number[]) => boolean;

/** A way to search. It only thinks: it is asked for a version, told how that ended, and runs nothing. */
export interface Strategy {
  /** The next version; null where none is left that was not tried and can be afforded. */
  next(isAffordable: IsAffordable): Proposal | null;
  /** @param loss the score turned so that less is better; null for a failure, the worst of all */
  tell(proposal: Proposal, ending: Ending, loss: number | null): void;
}
