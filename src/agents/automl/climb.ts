import type { Lesson } from '../../schema/index.ts';
import { trustBy } from './hints.ts';
import type { Knob } from './knobs.ts';
import { type Direction, literalOf, moved, steps } from './scales.ts';
import type { Ending, IsAffordable, Proposal, Strategy } from './strategy.ts';

/** What the tries of one knob have shown. */
interface Track {
  knob: Knob;
  direction: Direction;
  step: number;
  /** Directions that are still to be tried with this step. */
  left: Direction[];
  failures: number;
  successes: number;
  /** By what other runs make of knobs of its name. */
  trust: number;
  /** Breaks ties among equal priors. */
  tie: number;
  /** Changing it alone had no effect, so it is left out of leaps. */
  isIdle: boolean;
}

/** The trust in a knob is multiplied by this after each failed step, so that others come first. */
const trustAfterFailure = 0.7;
/** The least and the most numbers that a leap changes at once. */
const leapWidth = { least: 2, most: 3 };
/** How much longer a model trains once the time left is enough for no more than `rare` runs; the first affordable one. */
const longer = { rare: 4, factors: [3, 2.5, 2, 1.6, 1.3] };
/** After this many consecutive draws of leaps that were tried before or cost too much, there is no leap. */
const maxDraws = 50;

/**
 * A climb: changes one number at a time, with large steps first, and keeps improvements. A direction that helps is
 * followed with doubled steps; if none does, the step is halved on a later pass. Once every number was tried with
 * large steps, small steps alternate with leaps, which change several numbers of the best version at once: leaps find
 * changes that help only together, and continue when no single step is left. When only a few runs are left, or no more
 * were possible from the start, one of them trains longer. This class only decides: it runs nothing.
 */
export class Climb implements Strategy {
  readonly #tracks: Track[];
  readonly #random: () => number;
  readonly #seen = new Set<string>();
  #values: readonly number[];
  #isLeapNext = true;
  #hasTrainedLonger = false;

  /**
   * @param lessons of other runs: they decide which knobs come early
   * @param values to begin with; default: those in the script
   */
  constructor(
    knobs: readonly Knob[],
    random: () => number,
    lessons: readonly Lesson[] = [],
    values: readonly number[] = knobs.map((knob) => knob.value),
  ) {
    this.#random = random;
    this.#values = values;
    this.#seen.add(keyOf(this.#values));
    this.#tracks = knobs.map((knob) => {
      const direction: Direction = knob.prior.upFirst || random() < 0.5 ? 1 : -1;
      const first = knob.prior.firstStep ?? steps[knob.prior.scale].first;
      return {
        knob,
        direction,
        step: first,
        left: bothFrom(direction),
        failures: 0,
        successes: 0,
        trust: trustBy(lessons, 'number', knob.name),
        tie: random(),
        isIdle: false,
      };
    });
  }

  next(isAffordable: IsAffordable): Proposal | null {
    const last = this.#hasTrainedLonger ? null : this.longer(isAffordable);
    this.#hasTrainedLonger ||= last !== null;
    if (last !== null) return last;
    const large = this.#step(isAffordable, true);
    if (large !== null) return large;
    this.#isLeapNext = !this.#isLeapNext;
    const first = this.#isLeapNext ? this.#leap(isAffordable) : this.#step(isAffordable, false);
    return first ?? this.#step(isAffordable, false) ?? this.#leap(isAffordable);
  }

  tell(proposal: Proposal, ending: Ending): void {
    this.#seen.add(keyOf(proposal.values));
    const changed = this.#tracks.filter((_, place) => proposal.values[place] !== this.#values[place]);
    const [track] = changed;
    if (track === undefined) throw new Error('this version does not differ from the best one');
    if (changed.length === 1) this.#learn(track, proposal, ending);
    if (ending === 'kept') this.#values = proposal.values;
  }

  #learn(track: Track, { values }: Proposal, ending: Ending): void {
    const place = this.#tracks.indexOf(track);
    const direction: Direction = (values[place] ?? 0) > (this.#values[place] ?? 0) ? 1 : -1;
    if (ending === 'kept') {
      track.direction = direction;
      track.step = Math.min(track.step * 2, steps[track.knob.prior.scale].most);
      track.left = [direction];
      track.successes += 1;
      track.failures = 0;
      return;
    }
    track.isIdle = ending === 'without effect';
    track.failures += track.isIdle ? 3 : 1;
    track.left = track.left.filter((each) => each !== direction);
  }

  /**
   * One long run in place of the last few: more training is the surest gain. Null if there is time for many.
   * @param most times longer than now
   */
  longer(isAffordable: IsAffordable, most: number = longer.factors[0] ?? 1): Proposal | null {
    const isLength = ({ knob: { prior, value }, isIdle }: Track) =>
      prior.isLength && prior.effort > 0 && value < prior.most && !isIdle;
    const [track] = this.#tracks.filter(isLength).sort((left, right) => promise(right) - promise(left));
    if (track === undefined) return null;
    const place = this.#tracks.indexOf(track);
    const from = this.#values[place] ?? track.knob.value;
    const times = (factor: number) =>
      this.#values.with(place, Math.min(track.knob.prior.most, Math.round(from * factor)));
    if (isAffordable(times(longer.rare))) return null;
    const values = longer.factors
      .filter((factor) => factor <= most)
      .map(times)
      .find((each) => (each[place] ?? 0) > from && !this.#seen.has(keyOf(each)) && isAffordable(each));
    if (values === undefined) return null;
    const { name, line } = track.knob;
    return this.#proposalOf(
      values,
      `the time left is enough for a few more runs only, and ${name} (line ${line}) says how long it trains: one long run is the surest gain.`,
    );
  }

  /** The most promising step of one number. `large`: at least as large as the first steps. */
  #step(isAffordable: IsAffordable, large: boolean): Proposal | null {
    for (const track of [...this.#tracks].sort((left, right) => promise(right) - promise(left))) {
      const proposal = this.#stepOf(track, isAffordable, large);
      if (proposal !== null) return proposal;
    }
    return null;
  }

  /** The best version with a few numbers changed at once, each by up to two large steps. */
  #leap(isAffordable: IsAffordable): Proposal | null {
    const tracks = this.#tracks.filter(({ isIdle }) => !isIdle);
    if (tracks.length < leapWidth.least) return null;
    for (let draw = 0; draw < maxDraws; draw += 1) {
      const spread = leapWidth.most - leapWidth.least + 1;
      const chosen = this.#drawn(tracks, leapWidth.least + Math.floor(this.#random() * spread));
      const values = this.#values.map((from, place) => {
        const track = this.#tracks[place];
        return track === undefined || !chosen.has(track) ? from : this.#movedAtRandom(track, from);
      });
      const isNew =
        !this.#seen.has(keyOf(values)) && values.some((value, place) => value !== this.#values[place]);
      if (isNew && isAffordable(values) && isAffordable(this.#slowest(values)))
        return this.#proposalOf(values);
    }
    return null;
  }

  /** This many tracks, promising ones with higher probability. */
  #drawn(tracks: readonly Track[], count: number): Set<Track> {
    // The largest of u^(1/w), with u uniform and w the weight: a weighted draw without replacement.
    const keys = tracks.map((track) => ({ track, key: this.#random() ** (1 / promise(track)) }));
    keys.sort((left, right) => right.key - left.key);
    return new Set(keys.slice(0, count).map(({ track }) => track));
  }

  #movedAtRandom({ knob }: Track, from: number): number {
    const direction: Direction = this.#random() < 0.5 ? 1 : -1;
    const step = 2 * steps[knob.prior.scale].first * this.#random();
    return moved(knob, from, direction, step) ?? from;
  }

  /** A change that should make a script faster may not: the errors for several numbers would multiply. */
  #slowest(values: readonly number[]): number[] {
    return this.#tracks.map(({ knob: { prior, value } }, place) => {
      const [best, drawn] = [this.#values[place] ?? value, values[place] ?? value];
      if (prior.effort === 0) return drawn;
      return prior.effort > 0 ? Math.max(best, drawn) : Math.min(best, drawn);
    });
  }

  #proposalOf(values: readonly number[], reason = leapReason): Proposal {
    const changes = this.#tracks.flatMap(({ knob }, place) => {
      const [from, to] = [this.#values[place] ?? knob.value, values[place] ?? knob.value];
      if (from === to) return [];
      return [`${knob.name}: ${literalOf(knob, from)} → ${literalOf(knob, to)} (line ${knob.line})`];
    });
    return { values, change: `${changes.join(', ')}.`, reason };
  }

  #stepOf(track: Track, isAffordable: IsAffordable, large: boolean): Proposal | null {
    const place = this.#tracks.indexOf(track);
    const from = this.#values[place];
    if (from === undefined) return null;
    // Each round tries the remaining directions of this step, then halves it, until it is too small to matter.
    for (;;) {
      for (const direction of track.left) {
        const to = moved(track.knob, from, direction, track.step);
        if (to === null) continue;
        const values = this.#values.with(place, to);
        if (this.#seen.has(keyOf(values)) || !isAffordable(values)) continue;
        return this.#proposalOf(values, reasonFor(track, direction));
      }
      const { first, least } = steps[track.knob.prior.scale];
      if (track.step / 2 < (large ? first : least)) return null;
      track.step /= 2;
      track.left = bothFrom(track.direction);
    }
  }
}

const leapReason = 'some numbers help only together, so I move a few of the best version at once.';

function keyOf(values: readonly number[]): string {
  return values.join(' ');
}

function bothFrom(direction: Direction): Direction[] {
  return direction === 1 ? [1, -1] : [-1, 1];
}

function promise(track: Track): number {
  const trust = track.knob.prior.weight * track.trust * trustAfterFailure ** track.failures;
  return trust * (1 + Math.min(track.successes, 2) / 2) * (0.9 + track.tie / 5);
}

function reasonFor({ knob, successes, failures }: Track, direction: Direction): string {
  const { name, line } = knob;
  const way = direction === 1 ? 'more' : 'less';
  if (successes > 0 && failures === 0)
    return `changing ${name} (line ${line}) helped, so I go on the same way: ${way} of it.`;
  if (failures > 0)
    return `${name} (line ${line}) has values near the best one that were not tried: ${way} of it.`;
  return `${name} (line ${line}) is a number that often matters, and nothing is known yet of ${way} of it.`;
}
