import { chmodSync, statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type {
  Action,
  BranchId,
  Budget,
  EventOf,
  ObjectId,
  SubmissionState,
  TaskBrief,
} from '../schema/index.ts';
import {
  type SnapshotOptions,
  type SnapshotSummary,
  type Snapshotter,
  type TraceWriter,
  unchangedSince,
} from '../store/index.ts';
import type { ActionOutcome } from './action.ts';
import type { StepFacts } from './branch-history.ts';
import { outputsName } from './command-runner.ts';
import type { StepResult } from './environment.ts';
import { SkippedNotice, skippedInTrace } from './skipped-entries.ts';
import type { StoredBytes } from './stored-bytes.ts';
import { SubmissionTracker, submissionSeen } from './submission-tracker.ts';
import type { StepUsage } from './usage-meter.ts';

const scriptActions: ReadonlySet<string> = new Set(['Execute Script']);
/** Names in the workspace that are mounted over and not part of its snapshots. */
export const mountPoints = ['data', outputsName];

export interface StepRecorderOptions {
  branch: BranchId;
  /** Absolute path on the host. */
  workspace: string;
  submission: TaskBrief['submission'];
  /** The steps before, including those of the branches it was forked from. */
  earlier: readonly StepFacts[];
  trace: TraceWriter;
  snapshotter: Snapshotter;
  /** The size limit for snapshots of the workspace. */
  maxBytes: number;
  stored: StoredBytes;
  signal: AbortSignal;
}

/** A performed step that is to be recorded. */
export interface DoneStep {
  step: number;
  action: Action;
  outcome: ActionOutcome;
  usage: StepUsage;
  /** When the step and the action's own work began, and when the work ended, by `performance.now()`. */
  began: number;
  workBegan: number;
  workEnded: number;
  /** Whether anything may have changed the workspace since its last snapshot. */
  mayDiffer: boolean;
}

/** A step in the trace. */
export interface FinishedStep {
  result: Omit<StepResult, 'ended'>;
  /** The workspace after it. */
  snapshot: ObjectId;
  submission: SubmissionState;
}

/** The workspace at the end of a run. */
export interface FinalState extends Pick<EventOf<'run_ended'>, 'skipped' | 'skipped_count'> {
  snapshot: ObjectId;
  submission: SubmissionState;
}

/** Snapshots and traces what steps did to a workspace. */
export class StepRecorder {
  readonly #options: StepRecorderOptions;
  readonly #tracker: SubmissionTracker;
  readonly #skipped = new SkippedNotice();
  /** The last snapshot, as one that finds nothing changed; null before the first. */
  #last: SnapshotSummary | null = null;
  /** What the run had added to its experiment folder when the last step was recorded. */
  storedBytes = 0;

  constructor(options: StepRecorderOptions) {
    const { submission, earlier } = options;
    this.#options = options;
    this.#tracker = new SubmissionTracker(submission, {
      writtenAt: earlier.at(-1)?.submission.written_at_step ?? null,
      lastScript: earlier.findLast(({ action }) => scriptActions.has(action))?.step ?? 0,
    });
  }

  /** @param budgetNow gives the remaining budget after the snapshot */
  async finish(done: DoneStep, budgetNow: () => Budget): Promise<FinishedStep> {
    const { branch, trace } = this.#options;
    const { step, action, outcome, usage } = done;
    const workMs = done.workEnded - done.workBegan;
    const snapshot = (done.mayDiffer ? null : this.#last) ?? (await this.#takeSnapshot());
    this.#last = unchangedSince(snapshot);
    const submission = this.#tracker.after(step, snapshot.first, scriptActions.has(action.name));
    const budget = budgetNow();
    this.storedBytes = this.#options.stored.count;
    const exitCode = outcome.exitCode ?? null;
    // As the trace returns it, so that a resumed run sees the same.
    const observation = (outcome.observation + this.#skipped.notice(snapshot.skipped)).toWellFormed();
    trace.append({
      kind: 'step_finished',
      ...(branch === 'main' ? {} : { branch }),
      step,
      status: outcome.status,
      observation: trace.textRef(observation),
      duration_ms: rounded(workMs),
      exit_code: exitCode,
      snapshot: snapshot.id,
      changed: snapshot.changed,
      changed_count: snapshot.changedCount,
      undo: outcome.undo ?? [],
      undone: outcome.undone ?? [],
      submission,
      budget,
      ...skippedInTrace(snapshot),
      stored_bytes: this.storedBytes,
      ...(usage.cpuSeconds === undefined ? {} : { cpu_seconds: rounded(usage.cpuSeconds) }),
      ...(usage.peakMemoryBytes === undefined ? {} : { peak_memory_bytes: usage.peakMemoryBytes }),
      ...(outcome.byModel === true ? { by_model: true } : {}),
      overhead_ms: rounded(performance.now() - done.began - workMs),
    });
    const result = {
      ...{ step, status: outcome.status, observation, exitCode },
      durationMs: rounded(workMs),
      budget,
      submission: submissionSeen(submission),
    };
    return { result, snapshot: snapshot.id, submission };
  }

  /** The workspace for grading: every file is read anew. Nothing may run in it any more. */
  async finalState(step: number): Promise<FinalState> {
    const taken = await this.#takeSnapshot({ full: true });
    const submission = this.#tracker.after(step, taken.first, false);
    return { snapshot: taken.id, submission, ...skippedInTrace(taken) };
  }

  #takeSnapshot(more: SnapshotOptions = {}): Promise<SnapshotSummary> {
    const { submission, maxBytes, signal, snapshotter } = this.#options;
    this.#keepAccess();
    const first = submission.files.map(({ path }) => path);
    return snapshotter.take({ ...more, ignore: mountPoints, maxBytes, first, signal });
  }

  /** A script may remove all permissions from the workspace itself, but the harness needs them. */
  #keepAccess(): void {
    const { workspace } = this.#options;
    const { mode } = statSync(workspace);
    if ((mode & 0o700) !== 0o700) chmodSync(workspace, (mode & 0o777) | 0o700);
  }
}

/** To three digits. */
function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
