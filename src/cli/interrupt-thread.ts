import { writeSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Interruption, InterruptWatch } from './interrupts.ts';

/**
 * Waits for Ctrl-C in its own thread, because the main thread receives no signal while it is busy. In a worker thread,
 * Node interrupts only a script with `breakOnSigint`, so the wait is such a script.
 */
const never = new Int32Array(new SharedArrayBuffer(4));
Object.assign(globalThis, {
  waitForInterrupt: (ms: number) => {
    tell('listening');
    Atomics.wait(never, 0, 0, ms);
  },
});

wait(Number.POSITIVE_INFINITY);
const { notice, sameMs, stoppingMs, second, exitingMs } = currentWatch();
say(notice);
tell('stop');
wait(sameMs);
if (wait(stoppingMs) && second !== null) {
  say(second.notice);
  tell('second');
  wait(second.ms);
}
tell('exit');
wait(exitingMs);
// Nobody handles the signal any more: the kernel ends the whole process, whatever its main thread is doing.
process.kill(process.pid, 'SIGINT');

function tell(what: Interruption): void {
  parentPort?.postMessage(what);
}

/** The latest settings from the main thread. */
function currentWatch(): InterruptWatch {
  let watch = workerData as InterruptWatch;
  for (;;) {
    const received = parentPort === null ? undefined : receiveMessageOnPort(parentPort);
    if (received === undefined) return watch;
    watch = received.message as InterruptWatch;
  }
}

function say(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // Standard error is closed.
  }
}

/**
 * Waits until Ctrl-C, or until this time has passed.
 * @returns whether it was Ctrl-C
 */
function wait(ms: number): boolean {
  try {
    runInThisContext(`waitForInterrupt(${ms})`, { breakOnSigint: true });
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    return true;
  }
}
