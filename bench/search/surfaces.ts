import type { Random } from '../draws.ts';

export interface SurfaceWanted {
  seed: number;
  knobs: number;
  /** Standard deviation of a score, as a share of what the starter could gain. */
  noise: number;
  /** Whether numbers matter together: the best value of one follows from that of another. */
  interacts: boolean;
  crashes: boolean;
  /** Seconds that the starter takes. */
  seconds: number;
}

/** The result of one run of a synthetic script. */
export interface MadeUpRun {
  /** Without noise; 1 for the starter, 0 for the best possible. */
  regret: number;
  /** The printed score: lower is better. */
  score: number;
  crashed: boolean;
  seconds: number;
}

interface Axis {
  name: string;
  literals: readonly string[];
  /** The position of a value, in units of a usual tuning step. */
  position(value: number): number;
  /** The time grows with this power of the value. */
  effort: number;
  isRounds?: boolean;
}

const decades = (value: number) => Math.log10(Math.max(value, 1e-7));
const doublings = (value: number) => Math.log2(Math.max(value, 0.5));
const logits = (value: number) => {
  const inside = Math.min(Math.max(value, 0.02), 0.98);
  return Math.log(inside / (1 - inside));
};

const axes: readonly Axis[] = [
  { name: 'lr', literals: ['0.001', '0.01', '0.1', '1.0'], position: decades, effort: 0 },
  { name: 'weight_decay', literals: ['0.0', '1e-4', '0.01'], position: decades, effort: 0 },
  { name: 'dropout', literals: ['0.0', '0.2', '0.5'], position: logits, effort: 0 },
  { name: 'epochs', literals: ['4', '10', '20'], position: doublings, effort: 1, isRounds: true },
  { name: 'hidden_size', literals: ['16', '64', '128'], position: doublings, effort: 0.7 },
  { name: 'batch_size', literals: ['32', '128'], position: doublings, effort: -0.5 },
  { name: 'max_depth', literals: ['2', '3', '6'], position: (value) => value / 2, effort: 0.8 },
  { name: 'momentum', literals: ['0.5', '0.9'], position: logits, effort: 0 },
  { name: 'subsample', literals: ['1.0', '0.8'], position: logits, effort: 0.5 },
  { name: 'gamma', literals: ['0.1', '1.0'], position: decades, effort: 0 },
  { name: 'min_samples_leaf', literals: ['1', '5', '20'], position: doublings, effort: 0 },
  { name: 'n_neighbors', literals: ['3', '5', '15'], position: doublings, effort: 0.1 },
  { name: 'temperature', literals: ['0.3', '2.0'], position: decades, effort: 0 },
  { name: 'degree', literals: ['1', '2'], position: (value) => value, effort: 1 },
];

/** One number of a script, and its effect on the score. */
interface Dimension {
  axis: Axis;
  literal: string;
  /** Its best value, in steps from the starter's value. */
  best: number;
  weight: number;
  /** How far from the best a value still helps. */
  width: number;
}

interface Pair {
  one: number;
  other: number;
  /** How far the best value of one moves with each step of the other. */
  slope: number;
}

/** A script with numbers in it, and its computed output: nothing is run. */
export class Surface {
  readonly wanted: SurfaceWanted;
  readonly source: string;
  readonly #dimensions: readonly Dimension[];
  readonly #pairs: readonly Pair[];
  /** It crashes if this number is more than this many steps away; null: never. */
  readonly #cliff: { dimension: number; steps: number } | null;

  constructor(wanted: SurfaceWanted, random: Random) {
    this.wanted = wanted;
    this.#dimensions = chosen(wanted.knobs, random).map((axis) => dimensionOf(axis, random));
    const pairs = wanted.interacts ? pairsOf(wanted.knobs, random) : [];
    this.#pairs = [...pairs, ...ratesAndRounds(this.#dimensions)];
    const dimension = Math.floor(random() * wanted.knobs);
    this.#cliff = wanted.crashes ? { dimension, steps: random() < 0.5 ? 0.7 : -0.7 } : null;
    const lines = this.#dimensions.map(({ axis, literal }) => `${axis.name} = ${literal}`);
    this.source = ['SEED = 1', ...lines, ''].join('\n');
  }

  run(source: string, noiseOf: (key: string) => number): MadeUpRun {
    const steps = this.#dimensions.map(({ axis, literal }) => {
      return axis.position(numberIn(source, axis.name)) - axis.position(Number(literal));
    });
    const still = this.#dimensions.map(() => 0);
    const regret = this.#excess(steps) / this.#excess(still);
    const cliff = this.#cliff;
    const along = cliff === null ? 0 : (steps[cliff.dimension] ?? 0) / cliff.steps;
    const key = this.wanted.noise === 0 ? '' : source;
    const score = 1 + regret + (key === '' ? 0 : this.wanted.noise * noiseOf(key));
    return { regret, score, crashed: along > 2, seconds: this.#secondsOf(source) };
  }

  /** How much worse than the best; each number saturates, so that all values far off score alike. */
  #excess(steps: readonly number[]): number {
    const shifted = this.#dimensions.map(({ best }, place) => (steps[place] ?? 0) - best);
    for (const { one, other, slope } of this.#pairs) {
      const moved = shifted[other] ?? 0;
      shifted[one] = (shifted[one] ?? 0) - slope * moved;
    }
    return this.#dimensions.reduce((sum, { axis, weight, width }, place) => {
      const off = (shifted[place] ?? 0) / width;
      // More rounds rarely do much harm; fewer do.
      const harm = axis.isRounds === true && off > 0 ? off / 4 : off;
      return sum + weight * (1 - 1 / (1 + harm ** 2));
    }, 1e-9);
  }

  #secondsOf(source: string): number {
    return this.#dimensions.reduce((seconds, { axis, literal }) => {
      const [now, then] = [numberIn(source, axis.name), Number(literal)];
      return now > 0 && then > 0 ? seconds * (now / then) ** axis.effort : seconds;
    }, this.wanted.seconds);
  }
}

export function numberIn(source: string, name: string): number {
  return Number(new RegExp(`^${name} = (\\S+)$`, 'm').exec(source)?.[1]);
}

function chosen(count: number, random: Random): Axis[] {
  const keyed = axes.map((axis) => ({ axis, key: random() }));
  return keyed
    .sort((left, right) => left.key - right.key)
    .slice(0, count)
    .map(({ axis }) => axis);
}

/** Four numbers of ten have little or no effect; some are far off, most by about a step. */
function dimensionOf(axis: Axis, random: Random): Dimension {
  const literal = axis.literals[Math.floor(random() * axis.literals.length)] ?? '1';
  const far = random() < 0.25 ? 3 : 1.5;
  const way = axis.isRounds === true || random() < 0.5 ? 1 : -1;
  const weight = random() < 0.4 ? 0.03 * random() : 0.2 + random();
  return { axis, literal, best: way * far * (0.2 + 0.8 * random()), weight, width: 0.7 + 1.3 * random() };
}

/** With more rounds, smaller steps are best, so the best values differ between short and long runs. */
function ratesAndRounds(dimensions: readonly Dimension[]): Pair[] {
  const one = dimensions.findIndex(({ axis }) => axis.name === 'lr');
  const other = dimensions.findIndex(({ axis }) => axis.isRounds === true);
  return one < 0 || other < 0 ? [] : [{ one, other, slope: -0.25 }];
}

function pairsOf(count: number, random: Random): Pair[] {
  return Array.from({ length: Math.max(1, Math.floor(count / 2)) }, () => {
    const one = Math.floor(random() * count);
    const other = (one + 1 + Math.floor(random() * Math.max(1, count - 1))) % Math.max(1, count);
    return { one, other, slope: one === other ? 0 : (random() < 0.5 ? -1 : 1) * (0.5 + random()) };
  });
}
