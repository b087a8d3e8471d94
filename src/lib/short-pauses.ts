import { setFlagsFromString } from 'node:v8';

/**
 * Keeps collections of memory short, which stop all runs of a process. With hundreds of them (`npm run bench -- many`)
 * the defaults let the heap grow to four times what is in use, mark that with all helper threads, in competition with
 * the main thread, and then move what is left on sparse pages: as long as 60 ms. Now V8 moves it only when it has to save
 * memory. See also `flagsForRuns` in scripts/project-node.mjs.
 */
export function keepPausesShort(): void {
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  setFlagsFromString('--gc-experiment-less-compaction');
}
