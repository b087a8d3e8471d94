import { setImmediate } from 'node:timers/promises';

/** Makes a function that gives others a turn if this work has taken that long. */
export function breather(sliceMs = 15): () => Promise<void> {
  let until = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < until) return;
    await setImmediate();
    until = performance.now() + sliceMs;
  };
}
