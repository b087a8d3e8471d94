/** Ratings of one item by several raters, or by one several times; ordered categories as numbers. */
export type Ratings = readonly number[];

/** Share of all pairs of ratings of the same item that are equal; null if there are no pairs. */
export function exactAgreement(units: readonly Ratings[]): number | null {
  let [pairs, equal] = [0, 0];
  for (const ratings of units) {
    for (const [index, rating] of ratings.entries()) {
      pairs += index;
      equal += ratings.slice(0, index).filter((other) => other === rating).length;
    }
  }
  return pairs === 0 ? null : equal / pairs;
}

/**
 * Krippendorff's alpha for ordered categories: 1 − observed over expected disagreement, 0 if ratings agree as by chance
 * (Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"). Items with fewer than two ratings don't count.
 * @returns null if nothing can be compared, or all ratings are the same
 */
export function ordinalAlpha(units: readonly Ratings[]): number | null {
  const pairable = units.filter((ratings) => ratings.length > 1);
  const all = pairable.flat();
  const categories = [...new Set(all)].sort((left, right) => left - right);
  const counts = categories.map((category) => all.filter((rating) => rating === category).length);
  const total = all.length;
  /** Squared number of ratings from one category to the other, each end counted half. */
  const distance = (one: number, other: number): number => {
    const [low, high] = one < other ? [one, other] : [other, one];
    const [from, to] = [categories.indexOf(low), categories.indexOf(high)];
    const between = counts.slice(from, to + 1).reduce((sum, count) => sum + count, 0);
    return (between - ((counts[from] ?? 0) + (counts[to] ?? 0)) / 2) ** 2;
  };
  let observed = 0;
  for (const ratings of pairable) {
    const sum = sumOver(ratings, (one) => sumOver(ratings, (other) => distance(one, other)));
    observed += sum / (ratings.length - 1);
  }
  const expected = sumOver(all, (one) => sumOver(all, (other) => distance(one, other))) / (total - 1);
  return total < 2 || expected === 0 ? null : 1 - observed / expected;
}

function sumOver(values: readonly number[], term: (value: number) => number): number {
  return values.reduce((sum, value) => sum + term(value), 0);
}
