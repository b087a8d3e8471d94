import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { RunSpec } from '../schema/index.ts';
import type { Experiment } from '../store/index.ts';

/** Fewer runs are evaluated before threads have started. */
const fewestRuns = 100;
const maxThreads = 8;
/** The data of a run is soon garbage; without a limit a thread would keep hundreds of MB of it. */
const resourceLimits = { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 48 };

/**
 * Evaluates many runs into the index, on all cores. It may skip some (a run that is too large for a thread, that can't
 * be read, that is not over): readers of the index evaluate what is missing.
 * @param onDone called after each run
 */
export async function evaluateAhead(
  experiment: Experiment,
  runs: readonly RunSpec[],
  signal: AbortSignal,
  onDone: () => void,
): Promise<void> {
  if (runs.length < fewestRuns) return;
  const threads = Math.min(availableParallelism(), maxThreads);
  const queue = runs.values();
  await Promise.all(Array.from({ length: threads }, () => workThrough(queue, experiment, signal, onDone)));
}

async function workThrough(
  queue: Iterator<RunSpec>,
  { folder }: Experiment,
  signal: AbortSignal,
  onDone: () => void,
): Promise<void> {
  const module = join(import.meta.dirname, `evaluation-thread${extname(import.meta.filename)}`);
  const thread = new Worker(module, { workerData: folder, resourceLimits });
  try {
    await new Promise<void>((resolve) => {
      const next = () => {
        const { value, done } = queue.next();
        if (done === true || signal.aborted) resolve();
        else thread.postMessage(value.id);
      };
      thread.on('message', () => {
        onDone();
        next();
      });
      // The thread had too little memory for a run.
      thread.on('error', () => resolve());
      thread.on('exit', () => resolve());
      next();
    });
  } finally {
    await thread.terminate();
  }
}
