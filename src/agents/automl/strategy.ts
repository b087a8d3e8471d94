/** A version of a script to try next: values in the order of its knobs. */
export interface ProposedNumbers {
  values: readonly number[];
  /** For the notes: a sentence without initial capital. */
  reason: string;
}

/** The outcome of a try; one without effect did not change the score at all. */
export type TryEnding = 'kept' | 'put back' | 'without effect';

export type IsAffordable = (values: readonly number[]) => boolean;

/** A way to search. It only decides: it proposes a version, gets the outcome, and runs nothing. */
export interface Strategy {
  /** The next version; null if there is no affordable one that was not tried. */
  next(isAffordable: IsAffordable): ProposedNumbers | null;
  tell(proposal: ProposedNumbers, ending: TryEnding): void;
}
