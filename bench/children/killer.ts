/**
 * Kills its process some milliseconds after it was told to: in a thread, so that even the shortest code of the others
 * can be hit.
 */
import { performance } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';

const { flag, afterMs }: { flag: Int32Array; afterMs: number } = workerData;
parentPort?.postMessage('ready');
Atomics.wait(flag, 0, 0);
const until = performance.now() + afterMs;
// Sleeping is no more precise than this.
if (afterMs > 3) Atomics.wait(flag, 0, 1, afterMs - 2);
while (performance.now() < until);
process.kill(process.pid, 'SIGKILL');
