import { randomOf } from './random.ts';

/** Nearly normal numbers with mean 0 and variance 1: sums of twelve uniform ones. */
export function normalDraws(text: string): () => number {
  const random = randomOf(text);
  return () => {
    let sum = -6;
    for (let part = 0; part < 12; part += 1) sum += random(1e6) / 1e6;
    return sum;
  };
}
