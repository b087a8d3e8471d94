/** A pair of cost and success. */
export interface Offer {
  cost: number;
  success: number;
}

/** Whether nothing else in the list costs no more, succeeds no less, and is better in one of the two (Pareto). */
export function isOnFrontier(offer: Offer, all: readonly Offer[]): boolean {
  return !all.some(
    ({ cost, success }) =>
      cost <= offer.cost && success >= offer.success && (cost < offer.cost || success > offer.success),
  );
}
