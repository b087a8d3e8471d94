import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/**
 * Resolves in a separate turn of the event loop. So results that arrive for hundreds of callers at once are handled one
 * by one, and everything else gets its turn in between.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
