import type { ExperienceChange, ExperienceOutcome } from '../schema/index.ts';

/** The steps in which a version was made and run: those after `before`, up to `last`. */
export interface Steps {
  before: number;
  last: number;
}

/** One change, with its measurements. */
export interface Try extends Steps {
  change: ExperienceChange;
  outcome: ExperienceOutcome;
  /** Of the script's own metric against the best version before, in its unit, positive if better; null: unknown. */
  gain: number | null;
  /** What a gain must exceed, in the same unit; null if unknown. */
  noise: number | null;
  failure: string | null;
  /** The version that it is compared with. */
  best: Steps;
}
