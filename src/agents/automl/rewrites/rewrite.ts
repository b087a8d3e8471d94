import type { TaskBrief } from '../../../schema/index.ts';
import type { ArraySummary } from '../model-writing/arrays.ts';

/** A change to how a script works, found by its syntax and specific to a library, never to a task. */
export interface Rewrite {
  /** The idea, the same for every script, starting with the library: `torch: usual recipe`. Lessons are stored under it. */
  name: string;
  /** The change in this script, with the line, for the notes: ends with a full stop. */
  change: string;
  /** Why it may help, for the notes: a sentence without initial capital, with its source; ends with a full stop. */
  reason: string;
  /** How likely it is to help, from 0 to 1, on the scale of the priors of numbers. */
  weight: number;
  /** Expected run time, as a multiple of the original script's. */
  effort: number;
  /** The whole changed script. */
  source: string;
  /** Both versions were run on the same inputs with the same results, so the script's output need not show it. */
  isProven?: boolean;
}

/** What rewriters know besides the script. */
export interface Surroundings {
  task: TaskBrief;
  /** Arrays of the data and packages that can be imported; empty if the script opens no arrays. */
  arrays: readonly ArraySummary[];
  packages: readonly string[];
  /** The rewrites whose names begin with one of these are left out, to measure what they are worth. */
  leftOut?: readonly string[];
}

/** All rewrites of one kind for a script. Runs nothing, and never throws, whatever the text. */
export type Rewriter = (source: string, surroundings: Surroundings) => Rewrite[];
