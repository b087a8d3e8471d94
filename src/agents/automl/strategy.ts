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
}

/** How a proposal ended; one without effect did not change the score at all. */
export type Ending = 'kept' | 'put back' | 'without effect';

export type IsAffordable = (values: readonly number[]) => boolean;

/** A way to search. It only thinks: it is asked for a version, told how that ended, and runs nothing. */
export interface Strategy {
  /** The next version; null where none is left that was not tried and can be afforded. */
  next(isAffordable: IsAffordable): Proposal | null;
  tell(proposal: Proposal, ending: Ending): void;
}
