import type { Budget } from '../../schema/index.ts';
import type { Knob } from './knobs.ts';

/** Run times vary: a run may take this many times the expected time. */
export const margin = 1.5;
/** The last run decides what is submitted, so more time is kept for it. */
const lastMargin = 2;
/** Seconds for the steps that run nothing. */
const slack = 2;
/** If the best version is put back as a copy, a try that takes longer than expected costs no more than its own time. */
const withCopy = { margin: 1.15, slack: 4 };
/** A script is expensive if a run takes this share of the whole time: then its submission is copied, not made again. */
const dearShare = 0.04;
/** Write File, Execute Script, Validate Submission, Final Answer. */
const lastSteps = 4;
/** A try is stopped after this many times its expected time, and not before this many seconds. */
const patience = { times: 4, seconds: 10 };

/**
 * Expected seconds of a version: those of another version of the same script, scaled by the knobs that increase its
 * work.
 */
export function expectedSeconds(
  knobs: readonly Knob[],
  known: { values: readonly number[]; seconds: number },
  values: readonly number[],
): number {
  let { seconds } = known;
  for (const [place, knob] of knobs.entries()) {
    const from = known.values[place] ?? 0;
    const to = values[place] ?? 0;
    if (from > 0 && to > 0) seconds *= (to / from) ** knob.prior.effort;
  }
  return seconds;
}

/**
 * What must be left for the best version at the end: seconds of its last run, or `copied` if a copy of its submission
 * is enough.
 */
export type Reserve = number | 'copied';

/** Keeps a run within its budget: how much a try may cost, and what must be left for the end. */
export class Pace {
  #limit = Number.POSITIVE_INFINITY;

  /** Learns that a script was stopped after this time, so that nothing as slow is tried again. */
  learnLimit(seconds: number): void {
    this.#limit = Math.min(this.#limit, seconds);
  }

  /**
   * Whether `runs` runs of `expected` seconds each leave enough to run the best version again, or this one if it
   * becomes the best, to check it and to answer.
   */
  affords(expected: number, runs: number, best: Reserve, budget: Budget): boolean {
    const seconds =
      best === 'copied'
        ? withCopy.margin * expected * runs + withCopy.slack
        : margin * expected * runs + lastMargin * Math.max(best, expected) + slack;
    // Each run is written first; one of them is checked, and a bad version is put back.
    return (
      expected * margin < this.#limit &&
      seconds <= budget.seconds_left &&
      runs * 2 + 2 + lastSteps <= budget.steps_left
    );
  }

  /** Whether a run of this many seconds takes a large part of the whole budget. */
  isDear(seconds: number, { seconds_left, seconds_used }: Budget): boolean {
    return seconds >= dearShare * (seconds_left + seconds_used);
  }

  /** Whether a version of `expected` seconds can be run once more, with steps left for the answer. */
  affordsLastRun(expected: number, steps: number, budget: Budget): boolean {
    return expected <= budget.seconds_left && steps + 1 <= budget.steps_left;
  }

  /** Seconds after which a try is stopped, so that the best version can still be run again. */
  limitOf(expected: number, best: Reserve, budget: Budget): number {
    const reserve = best === 'copied' ? withCopy.slack : lastMargin * best + slack;
    const most = budget.seconds_left - reserve;
    return Math.max(1, Math.ceil(Math.min(most, Math.max(patience.seconds, patience.times * expected))));
  }
}
