import { sha256 } from '../../lib/hash.ts';

/** Numbers in [0, 1) that depend only on the seed, so that a run can be replayed. */
export function seededRandom(seed: number): () => number {
  let drawn = 0;
  return () => {
    const digits = sha256(`${seed}/${drawn}`).slice(0, 12);
    drawn += 1;
    return Number.parseInt(digits, 16) / 2 ** 48;
  };
}
