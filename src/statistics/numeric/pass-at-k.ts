/**
 * The probability that at least one of k runs succeeds, estimated without bias from n ≥ k runs: 1 − C(n−c, k) / C(n, k)
 * as a product, which neither overflows nor cancels (Chen et al. 2021, arXiv 2107.03374).
 * @returns null if there are fewer than k runs
 */
export function passAtK(runs: number, successes: number, k: number): number | null {
  if (k > runs) return null;
  if (runs - successes < k) return 1;
  let allFail = 1;
  for (let n = runs - successes + 1; n <= runs; n += 1) allFail *= 1 - k / n;
  return 1 - allFail;
}
