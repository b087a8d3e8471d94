import type { TaskBrief } from '../../../schema/index.ts';

/** A change to how a script works, found by its syntax and keyed to a library, never to a task. */
export interface Rewrite {
  /** The idea, the same on every script, with the library first: `torch: AdamW`. Lessons are kept by it. */
  name: string;
  /** What is changed in this script, with the line, for the notes: ends with a full stop. */
  change: string;
  /** Why it may help, for the notes: a sentence without its first capital and its source, ends with a full stop. */
  reason: string;
  /** How likely it is to help, from 0 to 1, on the scale of the priors of numbers. */
  weight: number;
  /** Expected run time, in those of the script as it was. */
  effort: number;
  /** The whole script, changed. */
  source: string;
  /** Both versions were run on the same inputs and gave the same: what the script prints need not show it. */
  isProven?: boolean;
}

/** An array that lies below `data/`. */
export interface ArrayFile {
  /** As a script in the workspace opens it: `data/train.npy`. */
  path: string;
  /** The name in an archive of several (`.npz`); null for a file of one. */
  key: string | null;
  shape: readonly number[];
  /** As numpy names it: `float32`. */
  dtype: string;
  /** Of whole numbers; null for others. */
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

/** Everything of one kind that could be rewritten in a script. Only thinks, and never throws, whatever the text. */
export type Rewriter = (source: string, surroundings: Surroundings) => Rewrite[];
