import type { Knob } from './knobs.ts';
import { moved, type StepDirection, steps } from './scales.ts';

/** A version of a script to try next: values in the order of its knobs. */
export interface ProposedNumbers {
  values: readonly number[];
  /** For the notes: a sentence without initial capital. */
  reason: string;
}

/** The outcome of a try; one without effect did not change the score at all. */
export type TryEnding = 'kept' | 'dropped' | 'without effect';

/** A way to search: the next version for the outcome of the last one. It only decides, and runs nothing. */
export type NumberTries = Generator<ProposedNumbers, void, TryEnding>;

/** The numbers that a search varies. */
export interface SearchedNumbers {
  readonly knobs: readonly Knob[];
  /** Those of the best version. */
  readonly values: readonly number[];
  /** Whether a version is affordable, and was not tried. */
  mayTry(values: readonly number[]): boolean;
}

/** What the tries of one knob have shown. */
interface Track {
  knob: Knob;
  place: number;
  direction: StepDirection;
  step: number;
  /** Directions that are still to be tried with this step. */
  left: StepDirection[];
  /** In a row; below 0 after a success. */
  failures: number;
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
export function* climb(numbers: SearchedNumbers, random: () => number): NumberTries {
  const tracks = numbers.knobs.map((knob, place): Track => {
    const direction = knob.prior.upFirst || random() < 0.5 ? 1 : -1;
    const step = steps[knob.prior.scale].first;
    const left = bothFrom(direction);
    return { knob, place, direction, step, left, failures: 0, tie: random() };
  });
  for (let next = nextStep(tracks, numbers); next !== null; next = nextStep(tracks, numbers)) {
    const { track, direction, values } = next;
    const ending = yield { values, reason: reasonFor(track, direction) };
    if (ending === 'kept') {
      track.direction = direction;
      track.step = Math.min(track.step * 2, steps[track.knob.prior.scale].most);
      track.left = [direction];
      track.failures = -1;
    } else {
      track.failures += ending === 'without effect' ? failuresOfIdle : 1;
      track.left = track.left.filter((each) => each !== direction);
    }
  }
}

interface Step {
  track: Track;
  direction: StepDirection;
  values: readonly number[];
}

function nextStep(tracks: readonly Track[], numbers: SearchedNumbers): Step | null {
  const sorted = tracks.toSorted((left, right) => promise(right) - promise(left));
  // Every number is tried with large steps before any is tried with small ones.
  for (const isLarge of [true, false]) {
    for (const track of sorted) {
      const step = stepOf(track, numbers, isLarge);
      if (step !== null) return step;
    }
  }
  return null;
}

/** The next step of one number; `isLarge`: at least as large as the first one. */
function stepOf(track: Track, numbers: SearchedNumbers, isLarge: boolean): Step | null {
  const { knob, place } = track;
  const { first, least } = steps[knob.prior.scale];
  // Each round tries the remaining directions of this step, then halves it.
  for (;;) {
    for (const direction of track.left) {
      const to = moved(knob, numbers.values[place] ?? knob.value, direction, track.step);
      const values = to === null ? null : numbers.values.with(place, to);
      if (values !== null && numbers.mayTry(values)) return { track, direction, values };
    }
    if (track.step / 2 < (isLarge ? first : least)) return null;
    track.step /= 2;
    track.left = bothFrom(track.direction);
  }
}

function bothFrom(direction: StepDirection): StepDirection[] {
  return direction === 1 ? [1, -1] : [-1, 1];
}

function promise({ knob, failures, tie }: Track): number {
  return knob.prior.weight * promiseAfterFailure ** failures * (0.9 + tie / 5);
}

function reasonFor({ knob: { name, line }, failures }: Track, direction: StepDirection): string {
  const way = direction === 1 ? 'more' : 'less';
  return failures < 0
    ? `changing ${name} (line ${line}) helped, so I go on the same way: ${way} of it.`
    : `${name} (line ${line}) is a number that often matters, and these values of it were not tried: ${way} of it.`;
}
