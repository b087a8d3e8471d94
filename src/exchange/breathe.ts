import { setImmediate } from 'node:timers/promises';

/** Between pieces of work that never wait for anything: lets signals be heard. */
export async function breathe(signal: AbortSignal): Promise<void> {
  await setImmediate();
  signal.throwIfAborted();
}
