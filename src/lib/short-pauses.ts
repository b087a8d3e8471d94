import { readdirSync, readFileSync } from 'node:fs';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { lowerPriority } from './lower-priority.ts';

/** The young generation: twice of what may be in use in it. */
const mostYoungBytes = 64 * 2 ** 20;
const checkMs = 5_000;
/** Of V8's own threads, which mark and compile: all runs wait for the main thread. */
const niceness = 5;

let isKept = false;

/**
 * Keeps collections of memory short, which stop all runs of a process. With hundreds of them (`npm run bench -- many`)
 * the defaults let the heap grow to four times what is in use and the young generation to 128 MB, and mark what is in
 * use with all four helper threads, on however few processors, in competition with the main thread.
 */
export function keepPausesShort(): void {
  if (isKept) return;
  isKept = true;
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  if (process.platform === 'linux') lowerWorkers();
  limitYoung();
  setInterval(limitYoung, checkMs).unref();
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

/**
 * V8 has no limit that can be set while it runs, but a factor of growth; and it shrinks the young generation when little
 * happens.
 */
function limitYoung(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  const mayGrow = young === undefined || young.space_size < mostYoungBytes;
  setFlagsFromString(`--semi-space-growth-factor=${mayGrow ? 2 : 1}`);
}
