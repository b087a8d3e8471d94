import type { TaskBrief } from '../../../schema/index.ts';

/** A change to how a script works, found by its syntax and specific to a library, never to a task. */
export interface Rewrite {
  /** The idea, the same for every script, starting with the library: `torch: AdamW`. Lessons are stored under it. */
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

/** An array below `data/`. */
export interface ArrayFile {
  /** The path with which a script in the workspace opens it: `data/train.npy`. */
  path: string;
  /** The name in an archive of several arrays (`.npz`); null for a file with one array. */
  key: string | null;
  shape: readonly number[];
  /** numpy's name: `float32`. */
  dtype: string;
  /** For whole numbers; null for others. */
  least: number | null;
  most: number | null;
}

/** What rewriters know besides the script. */
export interface Surroundings {
  task: TaskBrief;
  arrays: readonly ArrayFile[];
  /** Packages that can be imported. */
  packages: readonly string[];
}

/** All rewrites of one kind for a script. Runs nothing, and never throws, whatever the text. */
export type Rewriter = (source: string, surroundings: Surroundings) => Rewrite[];
