import { constants } from 'node:os';

/** The name of a signal, or null if no signal has this number. */
export function signalName(number: number): string | null {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0] ?? null;
}
