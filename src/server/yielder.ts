import { setImmediate } from 'node:timers/promises';

/** Makes a function that yields to the event loop once this work has taken so long since the last time. */
export function yielder(sliceMs = 15): () => Promise<void> {
  let until = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < until) return;
    await setImmediate();
    until = performance.now() + sliceMs;
  };
}
