import type { ScriptResult } from '../../src/api/testing.ts';
import { exponential, hashed, normal, oneOf, type Random } from '../draws.ts';
import { textOf, type Version, versionIn } from './version.ts';

export interface ProblemWanted {
  seed: number;
  /** Standard deviation of a printed score, as a share of what the starter could gain. */
  noise: number;
  /** Whether there are changes that only help together, and changes that exclude each other. */
  interacts: boolean;
  /** Seconds of one run of the starter. */
  seconds: number;
}

interface Change {
  name: string;
  /** What it adds to the true score. */
  effect: number;
  /** The approaches with which it has this effect; with the others it has none. */
  fits: ReadonlySet<string>;
  /** Whether a script with it fails until that is repaired. */
  crashes: boolean;
  /** By how much it multiplies the time of a run. */
  effort: number;
}

interface Approach {
  name: string;
  effect: number;
  effort: number;
}

/** Two changes whose effects do not add up: `extra` is added if a version has both. */
interface Pair {
  names: readonly [string, string];
  extra: number;
}

/** The score of the starter, an error, and how much of it the best version gains. */
const scale = { starter: 10, gain: 3 };
const sizes = { changes: 24, approaches: 4, pairs: 2 };

/** A pool of changes of a script, and their computed effects on its score: nothing is run. */
export class Problem {
  readonly wanted: ProblemWanted;
  readonly starter: string;
  readonly #approaches: readonly Approach[];
  readonly #changes: ReadonlyMap<string, Change>;
  readonly #pairs: readonly Pair[];
  /** True gain of the best version, in the units in which effects were drawn. */
  readonly #most: number;

  constructor(wanted: ProblemWanted) {
    const random = hashed(`tree problem ${wanted.seed}`);
    this.wanted = wanted;
    this.#approaches = Array.from({ length: sizes.approaches }, (_, place) => ({
      name: `approach-${place + 1}`,
      effect: place === 0 ? 0 : 1.5 * normal(random),
      effort: place === 0 ? 1 : 2 ** (2 * random() - 1),
    }));
    const changes = Array.from({ length: sizes.changes }, (_, place) =>
      changeOf(place, this.approaches, random),
    );
    this.#pairs = wanted.interacts ? pairsOf(changes, this.approaches, random) : [];
    this.#changes = new Map(changes.map((change) => [change.name, change]));
    this.starter = textOf(versionIn('SEED = 0\napproach("approach-1")\n'));
    this.#most = Math.max(
      ...this.approaches.map((approach) => this.#gain(approach, this.usefulWith(approach))),
    );
  }

  get approaches(): string[] {
    return this.#approaches.map(({ name }) => name);
  }

  get changes(): string[] {
    return [...this.#changes.keys()];
  }

  /** The approaches that are better than the starter's. */
  get goodApproaches(): string[] {
    return this.#approaches.filter(({ effect }) => effect > 0).map(({ name }) => name);
  }

  /** The changes that the best version with an approach has. */
  usefulWith(approach: string): Set<string> {
    const inPairs = new Set(this.#pairs.flatMap(({ names }) => names));
    const useful = [...this.#changes.values()].filter(
      ({ name, effect, fits }) => effect > 0 && fits.has(approach) && !inPairs.has(name),
    );
    const chosen = new Set(useful.map(({ name }) => name));
    for (const { names } of this.#pairs) {
      const [one, other] = names;
      const subsets: string[][] = [[], [one], [other], [one, other]];
      const gain = (subset: string[]) => this.#gain(approach, new Set(subset));
      for (const name of subsets.toSorted((left, right) => gain(right) - gain(left))[0] ?? [])
        chosen.add(name);
    }
    return chosen;
  }

  /** How much worse a script's submission is than the best possible: 1 for the starter, 0 for the best. */
  regretOf(script: string): number {
    const { approach, changes } = versionIn(script);
    return 1 - this.#gain(approach, new Set(changes.keys())) / this.#most;
  }

  /** Takes the place of Python. The same script with the same seed always prints the same score. */
  run(script: string, draws: string): ScriptResult {
    const version = versionIn(script);
    const random = hashed(`tree run ${this.wanted.seed} ${draws} ${script}`);
    const seconds = this.#secondsOf(version) * Math.exp(0.1 * normal(random));
    const fail = (output: string, share: number) => ({ output, exitCode: 1, seconds: share * seconds });
    if (version.broken !== null) return fail(`SyntaxError: '(' was never closed: ${version.broken}`, 0.01);
    const crash = [...version.changes].find(
      ([name, { repaired }]) => this.#changes.get(name)?.crashes === true && !repaired,
    );
    if (crash !== undefined) return fail(`Traceback:\n  use("${crash[0]}")\nValueError: shapes differ`, 0.3);
    if (seconds > version.stopsAfter)
      return { output: 'Alarm clock', exitCode: null, seconds: version.stopsAfter };
    const error = scale.starter - scale.gain * (1 - this.regretOf(script) - this.#noiseOf(version, draws));
    return {
      output: `validation MAE: ${error.toFixed(4)}`,
      exitCode: 0,
      seconds,
      writes: { 'submission.csv': script },
    };
  }

  #gain(approach: string, names: ReadonlySet<string>): number {
    const { effect: base = 0 } = this.#approaches.find(({ name }) => name === approach) ?? {};
    const effects = [...names].map((name) => {
      const change = this.#changes.get(name);
      return change?.fits.has(approach) === true ? change.effect : 0;
    });
    const extras = this.#pairs
      .filter((pair) => pair.names.every((name) => names.has(name)))
      .map(({ extra }) => extra);
    return [base, ...effects, ...extras].reduce((sum, value) => sum + value, 0);
  }

  #noiseOf({ seed, approach, changes }: Version, draws: string): number {
    const key = [approach, ...[...changes.keys()].sort()].join(' ');
    return this.wanted.noise * normal(hashed(`tree noise ${this.wanted.seed} ${draws} ${seed} ${key}`));
  }

  #secondsOf({ approach, changes }: Version): number {
    const { effort = 1 } = this.#approaches.find(({ name }) => name === approach) ?? {};
    return [...changes.keys()].reduce(
      (seconds, name) => seconds * (this.#changes.get(name)?.effort ?? 1),
      this.wanted.seconds * effort,
    );
  }
}

/** Three in ten help, a quarter harms, the rest does nothing; one in eight crashes, whatever its effect would be. */
function changeOf(place: number, approaches: readonly string[], random: Random): Change {
  const kind = random();
  const effect = kind < 0.3 ? exponential(random) : kind < 0.55 ? -0.7 * exponential(random) : 0;
  const fits = random() < 0.7 ? approaches : approaches.filter(() => random() < 0.5);
  const crashes = random() < 1 / 8;
  const effort = random() < 0.25 ? 0.8 + 0.8 * random() : 1;
  return { name: `change-${place + 1}`, effect, fits: new Set(fits), crashes, effort };
}

/** Gives some changes new effects: pairs that help only together, and pairs of which each helps, but not both. */
function pairsOf(changes: Change[], approaches: readonly string[], random: Random): Pair[] {
  const pairs: Pair[] = [];
  const free = [...changes];
  const take = (effect: number): string => {
    const change = oneOf(free, random);
    if (change === undefined) return '';
    free.splice(free.indexOf(change), 1);
    Object.assign(change, { effect, fits: new Set(approaches), crashes: false });
    return change.name;
  };
  for (let count = 0; count < sizes.pairs; count += 1) {
    pairs.push({ names: [take(-0.3), take(-0.3)], extra: 2 });
    pairs.push({ names: [take(0.8), take(0.6)], extra: -1.8 });
  }
  return pairs;
}
