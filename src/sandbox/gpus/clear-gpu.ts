import { setTimeout as sleep } from 'node:timers/promises';
import { processesWithVariable, signalAll } from '../process-tree.ts';
import { gpuMarker } from './gpu.ts';

const longestMs = 10_000;
const pauseMs = 50;

/**
 * Ends processes that runs left on a GPU that is free, or that this process holds but has given to no run: only
 * processes that were given it.
 * @returns how many there were; null if some can't be ended
 */
export async function clearGpu(uuid: string): Promise<number | null> {
  const found = new Set<number>();
  const deadline = performance.now() + longestMs;
  for (;;) {
    const left = processesWithVariable(gpuMarker(uuid), (value) => value === '1').filter(
      (pid) => pid !== process.pid,
    );
    if (left.length === 0) return found.size;
    if (performance.now() > deadline) return null;
    for (const pid of left) found.add(pid);
    signalAll(left, 'SIGKILL');
    await sleep(pauseMs);
  }
}
