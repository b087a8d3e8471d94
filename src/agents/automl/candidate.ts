import type { Evidence } from '../search/judge.ts';
import { expectedSeconds } from './pace.ts';
import type { Version } from './strategy.ts';
import type { ScriptVersions } from './versions.ts';

/** A version of some script that was measured. */
export interface Candidate extends Version {
  /** The script whose numbers it changes: the starter, one rewritten from it, or one written in its place. */
  script: ScriptVersions;
  /** How that script came out of the starter, in words; empty for the starter. */
  story: readonly string[];
  evidence: Evidence;
  /** Of one run. */
  seconds: number;
  /** The script is one of automl's own, with nothing in it of the starter. */
  isOwn?: boolean;
  /** It is measured on harder folds than the starter measures itself on, so scores of the latter look better than they are. */
  isStricter?: boolean;
}

/** The source of a candidate, its seeds raised once more. */
export function sourceOf(
  { script, values, seedOffset }: Pick<Candidate, 'script' | 'values' | 'seedOffset'>,
  raisedBy = 0,
): string {
  return script.render(values, seedOffset + raisedBy) ?? script.source;
}

/** What a candidate changes in the starter; empty where it is the starter. */
export function changesOf({ script, story, values, seedOffset }: Candidate): string[] {
  const changes = [...story, ...script.changes(values)];
  return seedOffset === 0 ? changes : [...changes, `every seed raised by ${seedOffset}`];
}

/** Expected seconds of other numbers in the script of a candidate. */
export function secondsWith({ script, ...known }: Candidate, values: readonly number[]): number {
  return expectedSeconds(script.knobs, known, values);
}
