import { getHeapStatistics } from 'node:v8';
import { UserError } from '../../../src/lib/errors.ts';
import type { FuzzTarget, OpenTarget } from './target.ts';

export interface Fault {
  /** `crash`: an exception other than a UserError, or a failed assertion of the target. */
  kind: 'crash' | 'slow' | 'memory' | 'hang';
  /** The same for all inputs that show the same fault. */
  signature: string;
  message: string;
}

export interface Attempt {
  fault: Fault | null;
  covered: readonly string[];
}

/** The memory that a reader may allocate in addition to its input, and per byte of the input. */
const freeBytes = 96 * 2 ** 20;
const bytesPerByte = 256;

export function millisecondsFor({ milliseconds }: FuzzTarget, bytes: number): number {
  return milliseconds?.(bytes) ?? 250 + (10 * bytes) / 1024;
}

/**
 * Runs one input, and returns the fault, if there was one.
 * @param known signatures of faults that need not be confirmed again
 */
export async function attempt(
  target: FuzzTarget,
  open: OpenTarget,
  input: Buffer,
  known: ReadonlySet<string> = new Set(),
): Promise<Attempt> {
  const before = allocated();
  const start = performance.now();
  try {
    const covered = (await open.run(Buffer.from(input))) ?? [];
    const fault = excess(target, input, performance.now() - start, allocated() - before);
    // Other processes, or the garbage of other inputs, may be the cause: only what happens each time is a fault.
    const isSure = fault === null || known.has(fault.signature);
    return { fault: isSure || !(await isPassing(target, open, input, fault.kind)) ? fault : null, covered };
  } catch (error) {
    return { fault: UserError.isInstance(error) ? null : crash(error), covered: [] };
  }
}

function allocated(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

function excess(target: FuzzTarget, input: Buffer, milliseconds: number, bytes: number): Fault | null {
  const most = millisecondsFor(target, input.length);
  if (milliseconds > most) {
    const message = `${input.length} bytes took ${Math.round(milliseconds)} ms, more than ${Math.round(most)}`;
    return { kind: 'slow', signature: 'slow', message };
  }
  if (bytes <= freeBytes + bytesPerByte * input.length) return null;
  return {
    kind: 'memory',
    signature: 'memory',
    message: `${input.length} bytes allocated ${Math.round(bytes / 2 ** 20)} MiB`,
  };
}

/** Whether one of two more tries stays within the limits; this time measured as processor time of this thread. */
async function isPassing(
  target: FuzzTarget,
  open: OpenTarget,
  input: Buffer,
  kind: Fault['kind'],
): Promise<boolean> {
  for (let count = 0; count < 2; count += 1) {
    globalThis.gc?.();
    const before = allocated();
    const { user, system } = process.threadCpuUsage();
    await open.run(Buffer.from(input));
    const spent = process.threadCpuUsage({ user, system });
    const time = kind === 'slow' ? (spent.user + spent.system) / 1000 : 0;
    if (excess(target, input, time, kind === 'memory' ? allocated() - before : 0) === null) return true;
  }
  return false;
}

export function crash(error: unknown): Fault {
  if (!(error instanceof Error)) return { kind: 'crash', signature: 'no error', message: String(error) };
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const own = frames.find((line) => /\/(src|test\/fuzz\/targets)\//.test(line)) ?? frames[0] ?? '';
  const place = /([^/\s(]+):\d+:\d+\)?$/.exec(own)?.[1] ?? '';
  const caller = /^\s+at (?:async )?([^\s(]+) \(/.exec(own)?.[1] ?? '';
  const said = error.message.split('\n')[0]?.replace(/\d+/g, '#').slice(0, 60) ?? '';
  // Where a stack overflow happens is random.
  const what = error instanceof RangeError && /call stack/.test(error.message) ? '' : `${caller} ${said}`;
  return {
    kind: 'crash',
    signature: `${error.name} ${place} ${what}`.trim(),
    message: (error.stack ?? error.message).slice(0, 3_000),
  };
}
