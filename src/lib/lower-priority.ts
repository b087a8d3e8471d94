import { getPriority, setPriority } from 'node:os';

/**
 * Lets others go first: on Linux the thread that calls this, elsewhere its process. What was started with a lower priority
 * keeps that one: only root may raise it.
 */
export function lowerPriority(niceness: number): void {
  setPriority(0, Math.max(getPriority(0), niceness));
}
