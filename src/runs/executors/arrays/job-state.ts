/** What a scheduler says of one job of an array. */
export interface JobState {
  /** As Slurm calls it, and whoever else there is: PENDING, RUNNING, COMPLETED … */
  state: string;
  /** Why it waits, or why it ended so. */
  reason: string;
  /** Where it is or was; empty while it waits. */
  nodes: string;
  /** How often the scheduler began it again. */
  restarts: number;
  /** Name of the array, by which it is found when its number was never told. */
  name: string;
}

/** By `array_index`, such as `12_3`. */
export type JobStates = Map<string, JobState>;

const ended = new Set([
  ...['COMPLETED', 'FAILED', 'CANCELLED', 'TIMEOUT', 'NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL'],
  ...['OUT_OF_MEMORY', 'DEADLINE', 'REVOKED', 'LAUNCH_FAILED'],
]);
/** Of these the job knows nothing: it can be given again. */
const notItsFault = new Set(['TIMEOUT', 'NODE_FAIL', 'PREEMPTED', 'BOOT_FAIL', 'REVOKED', 'LAUNCH_FAILED']);

export const hasEnded = ({ state }: JobState): boolean => ended.has(state);
export const mayBeGivenAgain = ({ state, reason }: JobState): boolean =>
  notItsFault.has(state) || reason === 'DependencyNeverSatisfied';
/** Nobody looks for room for it: it waits for a person, or for ever. */
export const isWaiting = ({ state }: JobState): boolean =>
  ['PENDING', 'CONFIGURING', 'REQUEUED', 'REQUEUE_HOLD', 'REQUEUE_FED', 'SPECIAL_EXIT'].includes(state);
