import type { StepProgress } from '../../environment/index.ts';
import type { Grade, RunRecord, RunSpec } from '../../schema/index.ts';
import { decisionWait } from '../../store/index.ts';

/** The result of a job. */
export interface JobResult {
  record: RunRecord | null;
  /** Why the run could not be executed or graded; null if all went well. */
  problem: string | null;
  /** Somebody cancelled it. */
  isCancelled?: true;
  /** Another process is executing the run. */
  isElsewhere?: true;
  /** Its executor has the job still, though nobody here follows it any more. */
  left?: 'queued' | 'running';
}

export type JobProgress =
  /**
   * The run is queued at a scheduler. `place`: in words, such as `Slurm 12_3 (Priority)`. `held`: until a person
   * releases it.
   */
  | { kind: 'run_queued'; run: RunSpec; place: string; held?: boolean }
  /** Whether its silent owner on another machine is still alive is known within half a minute. */
  | { kind: 'run_waits'; run: RunSpec; holder: string }
  /**
   * The process that had it did not release it. `silent`: that process could not be checked, and had stopped reporting.
   */
  | { kind: 'run_taken_over'; run: RunSpec; holder: string; epoch: number; silent: boolean }
  | { kind: 'run_kept'; run: RunSpec; record: RunRecord }
  /**
   * `place`: where it is executed, if elsewhere. `again`: why an unfinished attempt was not resumed, but archived: it had
   * taken no step yet, or its program has no session.
   */
  | { kind: 'run_started'; run: RunSpec; resumed: boolean; place?: string; again?: 'no_step' | 'no_session' }
  | { kind: 'run_step'; run: RunSpec; progress: StepProgress }
  | { kind: 'run_ended'; run: RunSpec; record: RunRecord }
  | { kind: 'run_graded'; run: RunSpec; grades: Grade[] }
  /** `error`: its code or name. */
  | { kind: 'run_not_graded'; run: RunSpec; message: string; error: string };

export function resultOf(record: RunRecord): JobResult {
  if (record.status === 'finished') return { record, problem: null };
  return { record, problem: record.end?.message ?? (decisionWait(record) || record.status) };
}

/** Of a run that nobody has tried to execute. */
export const notBegun = 'not begun';
export const notGradedYet = 'not graded: interrupted';
