import type { Axis } from './axis.ts';
import { Parzen } from './parzen.ts';
import type { IsAffordable } from './strategy.ts';

/** Of the versions that were measured, these count as good: a share, but never fewer than some. */
const goodOnes = { share: 0.25, least: 3 };
/** Versions that are drawn, of which the most promising one is tried. */
const candidates = 24;
/** Draws in vain before it makes do with fewer. */
const mostDraws = 100;
/** Numbers that one draw changes on average: most numbers of a script do not matter. */
const changesADraw = 3;
/** How often a number is drawn from what was expected of it, and not from near a good one. */
const adventure = 0.1;
/** How far from the starter's value the best one is expected, in steps. */
const expectedWidth = 2;

interface Seen {
  values: readonly number[];
  places: readonly number[];
  loss: number;
}

interface Densities {
  good: Parzen;
  bad: Parzen;
}

/**
 * A tree-structured Parzen estimator (Bergstra et al. 2011): one density over good versions and one over all others, a
 * number at a time; what is likely among the good and unlikely among the others is promising. Candidates are drawn near
 * one good version as a whole, so that numbers that are good only together stay together.
 */
export class ParzenModel {
  readonly #axes: readonly Axis[];
  readonly #random: () => number;
  readonly #seen: Seen[] = [];

  constructor(axes: readonly Axis[], random: () => number) {
    this.#axes = axes;
    this.#random = random;
  }

  /** @param loss null for a crash, the worst of all */
  learn(values: readonly number[], loss: number | null): void {
    const places = this.#placesOf(values);
    this.#seen.push({ values, places, loss: loss ?? Number.POSITIVE_INFINITY });
  }

  /**
   * The most promising version of many that were drawn; null where none that is new and affordable was found.
   * @param best counts as good, whatever else was measured
   * @param weights of the numbers: how readily each is changed
   */
  draw(best: readonly number[], weights: readonly number[], isNew: IsAffordable): number[] | null {
    const { good, bad } = this.#split(best);
    const densities = this.#axes.map((axis, place) => ({
      good: densityOf(axis, place, good),
      bad: densityOf(axis, place, bad),
    }));
    let chosen: { values: number[]; worth: number } | null = null;
    for (let draw = 0, found = 0; draw < mostDraws && found < candidates; draw += 1) {
      // The better ones of the good are sorted to the front, and are drawn more often.
      const index = Math.floor(good.length * this.#random() ** 1.5);
      const values = this.#near(good, index, densities, weights);
      if (!isNew(values)) continue;
      found += 1;
      const worth = this.#worthOf(values, densities);
      if (chosen === null || worth > chosen.worth) chosen = { values, worth };
    }
    return chosen?.values ?? null;
  }

  #split(best: readonly number[]): { good: Seen[]; bad: Seen[] } {
    const isBest = (each: Seen) => each.values.every((value, place) => value === best[place]);
    const others = this.#seen.filter((each) => !isBest(each)).sort((left, right) => left.loss - right.loss);
    const count = Math.max(goodOnes.least, Math.ceil(goodOnes.share * this.#seen.length)) - 1;
    const next = others.slice(0, count).filter(({ loss }) => loss < Number.POSITIVE_INFINITY);
    const first = { values: best, places: this.#placesOf(best), loss: Number.NEGATIVE_INFINITY };
    return { good: [first, ...next], bad: others.slice(next.length) };
  }

  /** A version near a good one. Numbers without weight are those of the best version, the first of the good ones. */
  #near(
    good: readonly Seen[],
    index: number,
    densities: readonly Densities[],
    weights: readonly number[],
  ): number[] {
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return this.#axes.map((axis, place) => {
      const weight = weights[place] ?? 0;
      const kept = good[weight === 0 ? 0 : index]?.values[place] ?? axis.knob.value;
      const chance = weight === 0 ? 0 : Math.min(0.9, (changesADraw * weight) / total);
      const density = densities[place]?.good;
      if (density === undefined || this.#random() >= chance) return kept;
      const { at, width } = this.#random() < adventure ? expectationOf(axis) : density.windowOf(index);
      return axis.valueAt(at + width * normal(this.#random));
    });
  }

  #worthOf(values: readonly number[], densities: readonly Densities[]): number {
    return this.#placesOf(values).reduce((sum, at, place) => {
      const density = densities[place];
      return density === undefined ? sum : sum + density.good.logDensity(at) - density.bad.logDensity(at);
    }, 0);
  }

  #placesOf(values: readonly number[]): number[] {
    return this.#axes.map((axis, place) => axis.positionOf(values[place] ?? axis.knob.value));
  }
}

function densityOf(axis: Axis, place: number, seen: readonly Seen[]): Parzen {
  const expectation = expectationOf(axis);
  return new Parzen(
    seen.map(({ places }) => places[place] ?? expectation.at),
    expectation,
  );
}

function expectationOf(axis: Axis): { at: number; width: number } {
  return { at: axis.positionOf(axis.knob.value), width: expectedWidth };
}

/** By the method of Box and Muller. */
function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
