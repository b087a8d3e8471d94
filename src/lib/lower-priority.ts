import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority: on Linux of a thread, by default the calling one; elsewhere of its process. A lower priority stays
 * as it is: only root may raise it.
 */
export function lowerPriority(niceness: number, thread = 0): void {
  setPriority(thread, Math.max(getPriority(thread), niceness));
}
