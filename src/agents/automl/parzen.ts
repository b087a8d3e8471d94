/** A bell on an axis. */
export interface Window {
  at: number;
  width: number;
}

/** Of a step: nearer places are one place. */
const leastWidth = 0.15;

/**
 * A density on one axis, by the adaptive Parzen estimator of Bergstra et al., Algorithms for Hyper-Parameter
 * Optimization (NeurIPS 2011): a bell over each place that was seen, as wide as the gap to the neighbour that is
 * farther off, and one over what was expected before anything was seen.
 */
export class Parzen {
  readonly #windows: readonly Window[];
  readonly #expectation: Window;

  constructor(places: readonly number[], expectation: Window) {
    const sorted = [...places, expectation.at].sort((left, right) => left - right);
    const least = Math.max(leastWidth, expectation.width / (1 + places.length));
    this.#expectation = expectation;
    this.#windows = places.map((at) => {
      return { at, width: Math.min(Math.max(gapAt(sorted, at), least), expectation.width) };
    });
  }

  /** Logarithm of the density, up to a constant; of places that are far from all others, no less than a bound. */
  logDensity(place: number): number {
    const windows = [...this.#windows, this.#expectation];
    const sum = windows.reduce((all, { at, width }) => {
      return all + Math.exp(-(((place - at) / width) ** 2) / 2) / width;
    }, 0);
    return Math.log(sum / windows.length + Number.EPSILON);
  }

  /** Around the n-th place that was seen. */
  windowOf(index: number): Window {
    return this.#windows[index] ?? this.#expectation;
  }
}

/** To the neighbour that is farther off, on either side. */
function gapAt(sorted: readonly number[], at: number): number {
  const below = at - (sorted[sorted.indexOf(at) - 1] ?? at);
  const above = (sorted[sorted.lastIndexOf(at) + 1] ?? at) - at;
  return Math.max(below, above);
}
