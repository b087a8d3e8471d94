import { writeSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { parentPort, workerData } from 'node:worker_threads';
import type { Interruption, InterruptWatch } from './interrupts.ts';

/**
 * Waits for Ctrl-C beside the main thread, which hears of no signal while it is busy. Of all that Node offers to a thread,
 * only a script with `breakOnSigint` is told of one, so the waiting is such a script.
 */
const { notice, stoppingMs, exitingMs } = workerData as InterruptWatch;
const never = new Int32Array(new SharedArrayBuffer(4));
Object.assign(globalThis, {
  waitForInterrupt: (ms: number) => {
    tell('listening');
    Atomics.wait(never, 0, 0, ms);
  },
});

wait(Number.POSITIVE_INFINITY);
try {
  writeSync(2, notice);
} catch {
  // Nobody reads it any more.
}
tell('stop');
wait(stoppingMs);
tell('exit');
wait(exitingMs);
// Nobody listens now: the kernel ends the whole process, whatever its main thread is at.
process.kill(process.pid, 'SIGINT');

function tell(what: Interruption): void {
  parentPort?.postMessage(what);
}

/** Until Ctrl-C, or until this time has passed. */
function wait(ms: number): void {
  try {
    runInThisContext(`waitForInterrupt(${ms})`, { breakOnSigint: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
  }
}
