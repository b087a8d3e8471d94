/** The script with these numbers in their places. */
export interface Version {
  /** In the order of the knobs. */
  values: readonly number[];
}

/** A version to try next. */
export interface Proposal extends Version {
  /** The change and its reason, for the notes. */
  change: string;
  reason: string;
}

/** The outcome of a proposal; one without effect did not change the score at all. */
export type Ending = 'kept' | 'put back' | 'without effect';

export type IsAffordable = (values: readonly number[]) => boolean;

/** A way to search. It only decides: it proposes a version, gets the outcome, and runs nothing. */
export interface Strategy {
  /** The next version; null if there is no affordable one that was not tried. */
  next(isAffordable: IsAffordable): Proposal | null;
  tell(proposal: Proposal, ending: Ending): void;
}
