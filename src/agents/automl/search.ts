import type { Lesson } from '../../schema/index.ts';
import { type Hint, hintFor } from './hints.ts';
import type { Knob } from './knobs.ts';
import { type Direction, literalOf, moved, steps } from './scales.ts';
import type { Ending, IsAffordable, Proposal, Strategy } from './strategy.ts';

/** One change to the best script so far. */
export interface Move extends Proposal {
  knob: Knob;
  from: number;
  to: number;
}

/** What is known of one knob after its tries. */
interface Track {
  knob: Knob;
  direction: Direction;
  step: number;
  /** Directions that are left to try with this step. */
  left: Direction[];
  failures: number;
  successes: number;
  /** What other runs found out about knobs of its kind. */
  hint: Hint;
  /** Breaks ties among equal priors. */
  tie: number;
}

/** With every step of a knob in vain, others come before it. */
const trustAfterFailure = 0.7;

/**
 * Coordinate search: changes one number at a time and keeps what helps. A direction that helps is followed with
 * doubled steps; where none does, the step is halved on a later pass. It only thinks: it runs nothing.
 */
export class CoordinateSearch implements Strategy {
  readonly #tracks: Track[];
  readonly #seen = new Set<string>();
  #values: number[];

  /** @param lessons of other runs: they decide which knobs come early, and which way is tried first */
  constructor(knobs: readonly Knob[], random: () => number, lessons: readonly Lesson[] = []) {
    this.#values = knobs.map((knob) => knob.value);
    this.#seen.add(this.#values.join(' '));
    this.#tracks = knobs.map((knob) => {
      const hint = hintFor(knob, lessons);
      const usual: Direction = knob.prior.upFirst || random() < 0.5 ? 1 : -1;
      const direction = hint.direction ?? usual;
      const first = knob.prior.firstStep ?? steps[knob.prior.scale].first;
      return {
        knob,
        direction,
        step: first,
        left: bothFrom(direction),
        failures: 0,
        successes: 0,
        hint,
        tie: random(),
      };
    });
  }

  /** The best values so far, in the order of the knobs. */
  get values(): readonly number[] {
    return this.#values;
  }

  /**
   * The most promising change that was not tried and can be afforded; null where there is none. `coarse`: with steps
   * that are no smaller than the first ones.
   */
  next(isAffordable: IsAffordable, coarse = false): Move | null {
    for (const track of [...this.#tracks].sort((left, right) => promise(right) - promise(left))) {
      const proposal = this.#changeOf(track, isAffordable, coarse);
      if (proposal !== null) return proposal;
    }
    return null;
  }

  /** Learns how a proposal ended. */
  tell(proposal: Proposal, ending: Ending): void {
    const place = this.#values.findIndex((value, each) => value !== proposal.values[each]);
    const [track, from = 0, to = 0] = [this.#tracks[place], this.#values[place], proposal.values[place]];
    if (track === undefined) throw new Error('this version does not differ from the best one');
    this.#seen.add(proposal.values.join(' '));
    const direction: Direction = to > from ? 1 : -1;
    if (ending === 'kept') {
      this.#values = [...proposal.values];
      track.direction = direction;
      track.step = Math.min(track.step * 2, steps[track.knob.prior.scale].most);
      track.left = [direction];
      track.successes += 1;
      track.failures = 0;
      return;
    }
    track.failures += ending === 'without effect' ? 3 : 1;
    track.left = track.left.filter((each) => each !== direction);
  }

  /** Goes on from another version that was found to be better. */
  jumpTo(values: readonly number[]): void {
    this.#seen.add(values.join(' '));
    this.#values = [...values];
  }

  #changeOf(track: Track, isAffordable: IsAffordable, coarse: boolean): Move | null {
    const place = this.#tracks.indexOf(track);
    const from = this.#values[place];
    if (from === undefined) return null;
    // Each round tries what this step has left, then halves it, until the step is too small to matter.
    for (;;) {
      for (const direction of track.left) {
        const to = moved(track.knob, from, direction, track.step);
        if (to === null) continue;
        const values = this.#values.with(place, to);
        if (this.#seen.has(values.join(' ')) || !isAffordable(values)) continue;
        return moveOf(track, values, from, to, direction);
      }
      const { first, least } = steps[track.knob.prior.scale];
      if (track.step / 2 < (coarse ? first : least)) return null;
      track.step /= 2;
      track.left = bothFrom(track.direction);
    }
  }
}

function moveOf(
  track: Track,
  values: readonly number[],
  from: number,
  to: number,
  direction: Direction,
): Move {
  const { knob } = track;
  const change = `${knob.name}: ${literalOf(knob, from)} → ${literalOf(knob, to)} (line ${knob.line}).`;
  return { knob, values, seedOffset: 0, from, to, change, reason: reasonFor(track, direction) };
}

function bothFrom(direction: Direction): Direction[] {
  return direction === 1 ? [1, -1] : [-1, 1];
}

function promise(track: Track): number {
  const trust = track.knob.prior.weight * track.hint.factor * trustAfterFailure ** track.failures;
  return trust * (1 + Math.min(track.successes, 2) / 2) * (0.9 + track.tie / 5);
}

function reasonFor({ knob, successes, failures, hint }: Track, direction: Direction): string {
  const { name, line } = knob;
  const way = direction === 1 ? 'more' : 'less';
  if (successes > 0 && failures === 0)
    return `changing ${name} (line ${line}) helped, so I go on the same way: ${way} of it.`;
  if (failures > 0)
    return `${name} (line ${line}) has values near the best one that were not tried: ${way} of it.`;
  if (hint.tasks.length > 0)
    return `earlier runs had a better score by changing such a number (on ${hint.tasks.join(', ')}), and nothing is known here yet of ${name} (line ${line}): ${way} of it.`;
  return `${name} (line ${line}) is a number that often matters, and nothing is known yet of ${way} of it.`;
}
