/**
 * Kendall's tau-b between two rankings: 1 if they agree, −1 if one is the reverse of the other, corrected for ties
 * (Kendall 1945, doi:10.1093/biomet/33.3.239). Pairs are counted one by one, which suits a few hundred values.
 * @returns null if one of them has no two different values
 */
export function kendallTauB(pairs: readonly (readonly [number, number])[]): number | null {
  let agreement = 0;
  let untiedX = 0;
  let untiedY = 0;
  pairs.forEach(([x, y], index) => {
    for (const [otherX, otherY] of pairs.slice(0, index)) {
      const [signX, signY] = [Math.sign(x - otherX), Math.sign(y - otherY)];
      agreement += signX * signY;
      untiedX += Math.abs(signX);
      untiedY += Math.abs(signY);
    }
  });
  return untiedX === 0 || untiedY === 0 ? null : agreement / Math.sqrt(untiedX * untiedY);
}
