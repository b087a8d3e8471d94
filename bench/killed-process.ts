import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

/** One process that worked on a run, as it was seen from outside. */
export interface Life {
  /** Steps that it had told to be finished. */
  stepsSeen: number[];
  /** `done`: it ended by itself and all was well. */
  end: 'killed' | 'done' | 'failed';
  /** What it said on standard error. */
  complaint: string;
  milliseconds: number;
}

/**
 * Works on an experiment in a process of its own.
 * @param killAfter milliseconds until kill -9; null lets it live
 */
export async function live(
  experiment: string,
  cache: string,
  killAfter: number | null,
  signal: AbortSignal,
): Promise<Life> {
  const start = performance.now();
  const child = spawn(process.execPath, [join(import.meta.dirname, 'children/work.ts'), experiment, cache], {
    stdio: ['ignore', 'pipe', 'pipe'],
    killSignal: 'SIGKILL',
    signal,
  });
  const timer = killAfter === null ? null : setTimeout(() => child.kill('SIGKILL'), killAfter);
  const [said, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close', { signal }),
  ]);
  if (timer !== null) clearTimeout(timer);
  const end = child.signalCode === 'SIGKILL' ? 'killed' : child.exitCode === 0 ? 'done' : 'failed';
  // A line that was cut by the kill told nothing.
  const stepsSeen = said.split('\n').slice(0, -1).map(Number);
  return { stepsSeen, end, complaint, milliseconds: performance.now() - start };
}
