import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The young generation: twice of what may be in use in it. */
const mostYoungBytes = 64 * 2 ** 20;
const checkMs = 5_000;

let isKept = false;

/**
 * Keeps collections of memory short, which stop all runs of a process. With hundreds of them (`npm run bench -- many`)
 * the defaults let the heap grow to four times what is in use and the young generation to 128 MB, and mark what is in
 * use with all four helper threads, on however few processors.
 */
export function keepPausesShort(): void {
  if (isKept) return;
  isKept = true;
  setFlagsFromString('--heap-growing-percent=100');
  setFlagsFromString('--concurrent-marking-max-worker-num=1');
  limitYoung();
  setInterval(limitYoung, checkMs).unref();
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
