import { setFlagsFromString } from 'node:v8';

/**
 * Keeps collections of memory short, which stop all runs of a process. With hundreds of them (`npm run bench -- many`)
 * V8 by default marks what is in use with all helper threads, in competition with the main thread, and then moves what
 * is left on sparse pages: as long as 60 ms. Now it moves that only when it has to save memory, and the heap grows to
 * three times what is in use before the next one. See also `flagsForRuns` in scripts/project-node.mjs.
 */
export function keepPausesShort(): void {
  setFlagsFromString('--heap-growing-percent=200');
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  setFlagsFromString('--gc-experiment-less-compaction');
}
