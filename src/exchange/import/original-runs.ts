import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FoundRun } from '../original/find-runs.ts';
import { readOriginalRun } from '../original/find-runs.ts';
import type { OriginalRun } from '../original/original-run.ts';
import type { LogWorkspaces } from '../original/read-log-folder.ts';

/** Limits for what is kept between two readings of a run: characters of texts, and files of workspaces. */
const maxCharacters = 4 * 2 ** 20;
const maxFiles = 500_000;
const sweepAfterCharacters = 8 * 2 ** 20;

/**
 * The runs of an import, which are read several times. If they are small together they are read once; otherwise each is
 * read again, in the memory of one.
 */
export class OriginalRuns {
  readonly found: readonly FoundRun[];
  readonly #signal: AbortSignal;
  readonly #kept = new Map<FoundRun, OriginalRun>();
  /** Reading texts again is cheap; reading workspaces again is not. */
  readonly #workspaces = new Map<FoundRun, LogWorkspaces>();
  #readCharacters = 0;
  #charactersLeft = maxCharacters;
  #filesLeft = maxFiles;

  constructor(found: readonly FoundRun[], signal: AbortSignal) {
    this.found = found;
    this.#signal = signal;
  }

  async read(found: FoundRun): Promise<OriginalRun> {
    const kept = this.#kept.get(found);
    if (kept !== undefined) return kept;
    const known = this.#workspaces.get(found);
    const run = await readOriginalRun(found, this.#signal, known);
    this.#sweep(charactersOf(run));
    if (known === undefined) this.#keep(found, run);
    return run;
  }

  /**
   * Unreferenced large texts are many times what is still used. The garbage collector expects less garbage and would
   * let the process grow to several times its size, so it is called explicitly.
   */
  #sweep(characters: number): void {
    this.#readCharacters += characters;
    if (this.#readCharacters < sweepAfterCharacters) return;
    this.#readCharacters = 0;
    collect();
  }

  #keep(found: FoundRun, run: OriginalRun): void {
    const files = [...run.snapshots.values()].reduce((sum, listing) => sum + listing.length, 0);
    const characters = charactersOf(run) + 100 * files;
    const fits = files <= this.#filesLeft;
    if (fits && characters <= this.#charactersLeft) {
      this.#kept.set(found, run);
      this.#charactersLeft -= characters;
    } else if (fits && found.form === 'log folder') {
      this.#workspaces.set(found, { snapshots: run.snapshots, gaps: run.workspaceGaps });
    } else return;
    this.#filesLeft -= files;
  }
}

/** Node exposes its garbage collector only with a flag, which applies to new contexts. */
const collect = (() => {
  let collector: (() => void) | undefined;
  return () => {
    if (collector === undefined) {
      setFlagsFromString('--expose-gc');
      collector = runInNewContext('gc') as () => void;
      setFlagsFromString('--no-expose-gc');
    }
    collector();
  };
})();

/** Its approximate size in memory. */
function charactersOf({ problem, steps, innerSteps, calls, error }: OriginalRun): number {
  const ofSteps = [...steps, ...innerSteps].reduce((sum, step) => sum + JSON.stringify(step).length + 500, 0);
  const ofCalls = calls.reduce(
    (sum, { prompt, completion }) => sum + prompt.length + completion.length + 500,
    0,
  );
  return problem.length + (error?.length ?? 0) + ofSteps + ofCalls;
}
