import type { Evidence } from '../search/noise-test.ts';
import { expectedSeconds } from './pace.ts';
import type { Version } from './strategy.ts';
import type { ScriptVersions } from './versions.ts';

/** A measured version of a script. */
export interface Candidate extends Version {
  /** The script whose numbers it changes: the starter, a rewrite of it, or its replacement. */
  script: ScriptVersions;
  /** How that script was made from the starter, in words; empty for the starter. */
  story: readonly string[];
  evidence: Evidence;
  /** The run time of one run. */
  seconds: number;
  /** The script is automl's own, with nothing of the starter in it. */
  isOwn?: boolean;
  /**
   * It is measured on harder folds than the starter's own, so the starter's scores look better in comparison than they
   * are.
   */
  isStricter?: boolean;
}

/** The source of a candidate, with its seeds raised. */
export function sourceOf({ script, values }: Pick<Candidate, 'script' | 'values'>, raisedBy = 0): string {
  return script.render(values, raisedBy) ?? script.source;
}

/** The changes of a candidate from the starter; empty for the starter. */
export function changesOf({ script, story, values }: Candidate): string[] {
  return [...story, ...script.changes(values)];
}

/** Expected seconds of a candidate's script with other numbers. */
export function secondsWith({ script, ...known }: Candidate, values: readonly number[]): number {
  return expectedSeconds(script.knobs, known, values);
}
