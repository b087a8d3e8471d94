import { writeSync } from 'node:fs';
import { runInThisContext } from 'node:vm';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { Interruption, InterruptWatch } from './interrupts.ts';

/**
 * Waits for Ctrl-C in its own thread, because the main thread receives no signal while it is busy. In a worker thread,
 * Node interrupts only a script with `breakOnSigint`, so the wait is such a script. So is all that happens here:
 * otherwise a signal between two waits would end the process.
 */
const never = new Int32Array(new SharedArrayBuffer(4));
let watch = workerData as InterruptWatch;
let isSecond = false;
/** What is done one after the other; a signal between two waits repeats what it interrupted. */
const stages: readonly (() => void)[] = [
  () => wait(Number.POSITIVE_INFINITY, () => report('listening')),
  () => {
    readWatch();
    say(watch.notice);
  },
  () => report('stop'),
  () => wait(watch.sameMs),
  () => {
    isSecond = wait(watch.stoppingMs);
  },
  () => {
    if (isSecond && watch.second !== null) say(watch.second.notice);
  },
  () => {
    if (!isSecond || watch.second === null) return;
    report('second');
    wait(watch.second.ms);
  },
  () => report('exit'),
  () => wait(watch.exitingMs),
];
let done = 0;
const goThrough = () => {
  for (; done < stages.length; done += 1) stages[done]?.();
};
while (done < stages.length) interruptible(goThrough);
// Nobody handles the signal any more: the kernel ends the whole process, whatever its main thread is doing.
process.kill(process.pid, 'SIGINT');

function report(what: Interruption): void {
  parentPort?.postMessage(what);
}

/** Reads the settings that the main thread has changed since. */
function readWatch(): void {
  if (parentPort === null) return;
  for (let given = receiveMessageOnPort(parentPort); given; given = receiveMessageOnPort(parentPort))
    watch = given.message as InterruptWatch;
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
function wait(ms: number, onListening = () => {}): boolean {
  return interruptible(() => {
    onListening();
    Atomics.wait(never, 0, 0, ms);
  });
}

/**
 * Calls a function that Ctrl-C ends; within another one, it ends only the inner one.
 * @returns whether it was ended so
 */
function interruptible(act: () => void): boolean {
  Object.assign(globalThis, { act });
  try {
    runInThisContext('act()', { breakOnSigint: true });
    return false;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_SCRIPT_EXECUTION_INTERRUPTED') throw error;
    return true;
  }
}
