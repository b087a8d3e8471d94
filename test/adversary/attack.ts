import type { Stage } from './stage.ts';

/** The aims of attacks: the names of the folders here, in the order of the table. */
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
  /** It was stopped; `why` says by what. */
  | { outcome: 'held'; why: string }
  /** It succeeded; `why` says what it got. */
  | { outcome: 'worked'; why: string }
  /** It can't be tried here: neither held nor worked. */
  | { outcome: 'skipped'; why: string };

export const held = (why: string): Verdict => ({ outcome: 'held', why });
export const worked = (why: string): Verdict => ({ outcome: 'worked', why });
export const skipped = (why: string): Verdict => ({ outcome: 'skipped', why });

/**
 * `confined`: depends on the driver, the user or the control groups, so it is tried in every row of the matrix. `host`:
 * does not involve a sandbox (an import, the viewer), so the first row of each user is enough.
 */
export type Scope = 'confined' | 'host';

export interface AttackFields {
  /** A sentence that says what is tried: "reads the harness's keys in /proc". */
  title: string;
  scope?: Scope;
  /** Takes more than about two seconds, so it is not part of the short form that `npm test` runs. */
  long?: boolean;
  /** Counts as not held after this time; default: 30. */
  seconds?: number;
  /**
   * It succeeds without confinement, and the suite must notice that: the suite's own test runs it with the driver
   * `none`. Only for attacks that do no harm there.
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
