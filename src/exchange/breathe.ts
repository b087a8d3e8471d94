import { setImmediate } from 'node:timers/promises';

/** Call between pieces of synchronous work: lets signals be handled. */
export async function breathe(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
