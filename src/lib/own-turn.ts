import { setImmediate } from 'node:timers/promises';

let last: Promise<void> = Promise.resolve();

/**
 * Resolves in a turn of the event loop in which nobody else goes on who asked for one. What came for hundreds at once is so
 * handled one after the other, and in between everything else has its turn.
 */
export function ownTurn(): Promise<void> {
  last = last.then(() => setImmediate());
  return last;
}
