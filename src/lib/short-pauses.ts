import { setFlagsFromString } from 'node:v8';

/**
 * Has memory collected whenever the heap has doubled. By default it may grow to four times first, and with hundreds of
 * runs in one process each collection then stops them all for twice as long (`npm run bench -- many`).
 */
export function keepPausesShort(): void {
  setFlagsFromString('--heap-growing-percent=100');
}
