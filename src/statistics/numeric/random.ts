/** Whole numbers below a bound, all equally likely except for 1 in 2³² / bound. */
export type Random = (bound: number) => number;

/**
 * Random numbers derived from a text: xoshiro128** (Blackman & Vigna 2021, doi:10.1145/3460772), seeded with four
 * FNV-1a hashes of the text.
 */
export function randomOf(text: string): Random {
  let [a, b, c, d] = [hash(`0 ${text}`), hash(`1 ${text}`), hash(`2 ${text}`), hash(`3 ${text}`)];
  const random = (bound: number) => {
    const product = Math.imul(b, 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = (d << 11) | (d >>> 21);
    return Math.floor((result / 2 ** 32) * bound);
  };
  // Hashes of similar texts share some bits; a few rounds mix them.
  for (let round = 0; round < 16; round += 1) random(1);
  return random;
}

function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value;
}
