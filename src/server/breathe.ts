import { setImmediate } from 'node:timers/promises';

/** Lets others have their turn when this work has taken so long. */
export function breather(sliceMs = 15): () => Promise<void> {
  let until = performance.now() + sliceMs;
  return async () => {
    if (performance.now() < until) return;
    await setImmediate();
    until = performance.now() + sliceMs;
  };
}
