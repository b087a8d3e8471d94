import type { Knob } from './knobs.ts';
import { moved, type StepDirection, steps } from './scales.ts';
import type { IsAffordable, ProposedNumbers, Strategy, TryEnding } from './strategy.ts';

/** What the tries of one knob have shown. */
interface Track {
  knob: Knob;
  direction: StepDirection;
  step: number;
  /** Directions that are still to be tried with this step. */
  left: StepDirection[];
  failures: number;
  successes: number;
  /** Breaks ties among equal priors. */
  tie: number;
}

/** The promise of a knob is multiplied by this after each failed step, so that others come first. */
const promiseAfterFailure = 0.7;
/** A change without any effect counts as this many failures. */
const failuresOfIdle = 3;

/**
 * A climb: changes one number at a time, with large steps first, and keeps improvements. A direction that helps is
 * followed with doubled steps; if none does, the step is halved on a later pass, until it is too small to matter.
 */
export class Climb implements Strategy {
  readonly #tracks: readonly Track[];
  readonly #seen: Set<string>;
  #values: readonly number[];

  constructor(knobs: readonly Knob[], random: () => number) {
    this.#values = knobs.map(({ value }) => value);
    this.#seen = new Set([keyOf(this.#values)]);
    this.#tracks = knobs.map((knob) => {
      const direction: StepDirection = knob.prior.upFirst || random() < 0.5 ? 1 : -1;
      const step = steps[knob.prior.scale].first;
      return {
        ...{ knob, direction, step, left: bothFrom(direction) },
        ...{ failures: 0, successes: 0, tie: random() },
      };
    });
  }

  next(isAffordable: IsAffordable): ProposedNumbers | null {
    const tracks = [...this.#tracks].sort((left, right) => promise(right) - promise(left));
    // Every number is tried with large steps before any is tried with small ones.
    for (const isLarge of [true, false]) {
      for (const track of tracks) {
        const proposal = this.#stepOf(track, isAffordable, isLarge);
        if (proposal !== null) return proposal;
      }
    }
    return null;
  }

  tell({ values }: ProposedNumbers, ending: TryEnding): void {
    this.#seen.add(keyOf(values));
    const place = values.findIndex((value, each) => value !== this.#values[each]);
    const [track, to, from] = [this.#tracks[place], values[place], this.#values[place]];
    if (track === undefined || to === undefined || from === undefined)
      throw new Error('this version does not differ from the best one');
    const direction: StepDirection = to > from ? 1 : -1;
    if (ending !== 'kept') {
      track.failures += ending === 'without effect' ? failuresOfIdle : 1;
      track.left = track.left.filter((each) => each !== direction);
      return;
    }
    this.#values = values;
    track.direction = direction;
    track.step = Math.min(track.step * 2, steps[track.knob.prior.scale].most);
    track.left = [direction];
    track.successes += 1;
    track.failures = 0;
  }

  /** The next step of one number; `isLarge`: at least as large as the first one. */
  #stepOf(track: Track, isAffordable: IsAffordable, isLarge: boolean): ProposedNumbers | null {
    const { first, least } = steps[track.knob.prior.scale];
    const place = this.#tracks.indexOf(track);
    const from = this.#values[place] ?? track.knob.value;
    // Each round tries the remaining directions of this step, then halves it.
    for (;;) {
      for (const direction of track.left) {
        const to = moved(track.knob, from, direction, track.step);
        if (to === null) continue;
        const values = this.#values.with(place, to);
        if (this.#seen.has(keyOf(values)) || !isAffordable(values)) continue;
        return { values, reason: reasonFor(track, direction) };
      }
      if (track.step / 2 < (isLarge ? first : least)) return null;
      track.step /= 2;
      track.left = bothFrom(track.direction);
    }
  }
}

function keyOf(values: readonly number[]): string {
  return values.join(' ');
}

function bothFrom(direction: StepDirection): StepDirection[] {
  return direction === 1 ? [1, -1] : [-1, 1];
}

function promise({ knob, failures, successes, tie }: Track): number {
  const trust = knob.prior.weight * promiseAfterFailure ** failures;
  return trust * (1 + Math.min(successes, 2) / 2) * (0.9 + tie / 5);
}

function reasonFor({ knob, successes, failures }: Track, direction: StepDirection): string {
  const { name, line } = knob;
  const way = direction === 1 ? 'more' : 'less';
  if (successes > 0 && failures === 0)
    return `changing ${name} (line ${line}) helped, so I go on the same way: ${way} of it.`;
  return `${name} (line ${line}) is a number that often matters, and these values of it were not tried: ${way} of it.`;
}
