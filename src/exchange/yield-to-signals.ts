import { setImmediate } from 'node:timers/promises';

/** Call it between pieces of synchronous work, so that signals are handled. */
export async function yieldToSignals(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
