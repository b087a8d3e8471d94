/** What a scheduler reports about one job of an array. */
export interface JobState {
  /** In Slurm's terms, also for other schedulers: PENDING, RUNNING, COMPLETED … */
  state: string;
  /** Why it waits, or why it ended in this way. */
  reason: string;
  /** Where it is or was; empty while it waits. */
  nodes: string;
  /** How often the scheduler restarted it. */
  restarts: number;
  /** The name of the array, by which it is found if its number was never reported. */
  name: string;
}

/** By `array_index`, such as `12_3`. */
export type JobStates = Map<string, JobState>;

const ended = new Set([
  ...['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL'],
  ...['OUT_OF_MEMORY', 'DEADLINE', 'REVOKED', 'LAUNCH_FAILED'],
]);
/** Not the job's fault: it can be submitted again. */
const notItsFault = new Set(['TIMEOUT', 'NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL', 'REVOKED', 'LAUNCH_FAILED']);

/** Reasons for which it can, whatever the state: a job that could not be launched may count as FAILED. */
const repeatableReasons = new Set(['DependencyNeverSatisfied', 'JobLaunchFailure']);

export const hasEnded = ({ state }: JobState): boolean => ended.has(state);
export const mayBeGivenAgain = ({ state, reason }: JobState): boolean =>
  notItsFault.has(state) || repeatableReasons.has(reason);
/** The scheduler does not look for room for it: it waits for a person, or for ever. */
export const isWaiting = ({ state }: JobState): boolean =>
  ['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT'].includes(state);
