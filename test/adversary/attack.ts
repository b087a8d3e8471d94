import type { Stage } from './stage.ts';

/** What attacks are after: the names of the folders here, in the order of the table. */
export const aims = {
  'hidden-data': 'hidden data: labels, graders, solutions',
  score: 'the score: forging it, or avoiding being graded',
  host: 'the host, its users, other runs and keys',
  network: 'the network',
  limits: 'limits of memory, processes, disk and time',
  harness: 'the harness itself: stopping, stalling or misleading it',
  readers: 'readers of data by others: imports, viewer, tasks, restored files',
  judges: 'judges of tasks and runs: checks of tasks, models as judges',
} as const;
export type Aim = keyof typeof aims;

export type Verdict =
  /** Something stopped it; `why` says what. */
  | { outcome: 'held'; why: string }
  /** It got what it was after; `why` says what that was. */
  | { outcome: 'worked'; why: string }
  /** It can't be tried here: neither held nor worked. */
  | { outcome: 'skipped'; why: string };

export const held = (why: string): Verdict => ({ outcome: 'held', why });
export const worked = (why: string): Verdict => ({ outcome: 'worked', why });
export const skipped = (why: string): Verdict => ({ outcome: 'skipped', why });

/**
 * `confined`: depends on the driver, the user or the control groups, so it is tried in every row of the matrix.
 * `host`: no sandbox takes part (an import, the viewer), so the first row of each user is enough.
 */
export type Scope = 'confined' | 'host';

export interface AttackFields {
  /** A sentence that says what is tried: "reads the harness's keys in /proc". */
  title: string;
  scope?: Scope;
  /** Takes more than some two seconds: left out of the short form that `npm test` runs. */
  long?: boolean;
  /** Counts as not held after this time; default: 30. */
  seconds?: number;
  /**
   * It gets through where nothing is confined, which must be noticed: the suite's own test runs it with the driver
   * `none`. Only for what does no harm there.
   */
  worksUnconfined?: boolean;
  run(stage: Stage): Promise<Verdict>;
}

export type Attack = Required<AttackFields>;

/** The default export of a module here is one of these, or a list of them. */
export function attack(fields: AttackFields): Attack {
  const run = (stage: Stage) => fields.run(stage);
  return { scope: 'confined', long: false, seconds: 30, worksUnconfined: false, ...fields, run };
}
