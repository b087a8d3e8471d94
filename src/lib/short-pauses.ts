import { readdirSync, readFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { lowerPriority } from './lower-priority.ts';

/** Of V8's own threads, which mark and compile: all runs wait for the main thread. */
const niceness = 5;

let isKept = false;

/**
 * Keeps collections of memory short, which stop all runs of a process. With hundreds of them (`npm run bench -- many`)
 * the defaults let the heap grow to four times what is in use, mark that with all four helper threads, on however few
 * processors, in competition with the main thread, and then move what is left on sparse pages: as long as 60 ms. Now V8
 * moves it only when it has to save memory. See also `flagsForRuns` in scripts/project-node.mjs.
 */
export function keepPausesShort(): void {
  if (isKept) return;
  isKept = true;
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  setFlagsFromString('--gc-experiment-less-compaction');
  if (process.platform === 'linux') lowerWorkers();
}

/** Linux has a priority for each thread, and Node names those of V8. */
function lowerWorkers(): void {
  const threads = '/proc/self/task';
  try {
    for (const thread of readdirSync(threads))
      if (readFileSync(`${threads}/${thread}/comm`, 'utf8') === 'V8Worker\n')
        lowerPriority(niceness, Number(thread));
  } catch {
    // Some containers forbid it: pauses are longer, that is all.
  }
}
