/**
 * p-values corrected for their number, so that the chance of one or more false discoveries stays below the level (Holm
 * 1979, jstor.org/stable/4615733). In the given order.
 */
export function holm(pValues: readonly number[]): number[] {
  const order = pValues.map((_, index) => index).sort((one, other) => at(one) - at(other));
  const corrected = [...pValues];
  let largest = 0;
  order.forEach((index, place) => {
    largest = Math.max(largest, Math.min(1, (order.length - place) * at(index)));
    corrected[index] = largest;
  });
  return corrected;

  function at(index: number): number {
    return pValues[index] ?? 1;
  }
}
