import { getPriority, setPriority } from 'node:os';

/**
 * Lowers the priority: on Linux of the calling thread, elsewhere of its process. A lower priority stays as it is: only
 * root may raise it.
 */
export function lowerPriority(niceness: number): void {
  setPriority(Math.max(getPriority(), niceness));
}
