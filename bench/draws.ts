import { createHash } from 'node:crypto';

/** Draws in [0, 1). */
export type Random = () => number;

/** Draws that depend on the text alone. */
export function hashed(text: string): Random {
  let count = 0;
  return () => {
    count += 1;
    return createHash('sha256').update(`${text} ${count}`).digest().readUInt32LE(0) / 2 ** 32;
  };
}

export function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export function exponential(random: Random): number {
  return -Math.log(1 - random());
}

/** One of the items; undefined if there are none. */
export function oneOf<Item>(items: readonly Item[], random: Random): Item | undefined {
  return items[Math.floor(random() * items.length)];
}
