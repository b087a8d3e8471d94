import type { StepProgress } from '../../environment/index.ts';
import type { Grade, RunRecord, RunSpec } from '../../schema/index.ts';
import { decisionWait } from '../../store/index.ts';

/** What a job came to. */
export interface JobResult {
  record: RunRecord | null;
  /** Why the run could not be executed or graded; null when all went well. */
  problem: string | null;
}

export type JobProgress =
  /** It waits where it was given to. `place`: in words, such as `Slurm 12_3 (Priority)`. `held`: until a person lets it go on. */
  | { kind: 'run_queued'; run: RunSpec; place: string; held?: boolean }
  /** Whether its silent owner on another machine is still there shows within half a minute. */
  | { kind: 'run_waits'; run: RunSpec; holder: string }
  /** The process that had it did not give it back. `silent`: it could not be looked up, and said nothing any more. */
  | { kind: 'run_taken_over'; run: RunSpec; holder: string; epoch: number; silent: boolean }
  | { kind: 'run_kept'; run: RunSpec; record: RunRecord }
  /** `place`: where, if elsewhere. */
  | { kind: 'run_started'; run: RunSpec; resumed: boolean; place?: string }
  | { kind: 'run_step'; run: RunSpec; progress: StepProgress }
  | { kind: 'run_ended'; run: RunSpec; record: RunRecord }
  | { kind: 'run_graded'; run: RunSpec; grades: Grade[] }
  /** `error`: its code or name. */
  | { kind: 'run_not_graded'; run: RunSpec; message: string; error: string };

export function resultOf(record: RunRecord): JobResult {
  if (record.status === 'finished') return { record, problem: null };
  return { record, problem: record.end?.message ?? (decisionWait(record) || record.status) };
}

export const notGradedYet = 'not graded: interrupted';
