import type { ActionStatus, Budget, SubmissionState, TraceEvent, UndoEntry } from '../schema/index.ts';

/** A step as an earlier session of the run recorded it. */
export interface RecordedStep {
  step: number;
  action: string;
  /** The arguments as JSON text. */
  args: string;
  status: ActionStatus;
  observation: string;
  exitCode: number | null;
  durationMs: number;
  budget: Budget;
  undo: UndoEntry[];
  undone: string[];
  submission: SubmissionState;
}

/** What earlier sessions of a run left in its trace. */
export interface RecordedRun {
  steps: RecordedStep[];
  /** How many notes the agent had written. */
  notes: number;
}

/** The agent did not act as it did before: the run can't go on from its trace. */
export class ReplayDiverged extends Error {
  override readonly name = 'ReplayDiverged';
}

/** Reads the finished steps from a run's events; a step that was under way when the run was killed does not count. */
export function recordedRun(
  events: Iterable<TraceEvent>,
  textOf: (ref: Extract<TraceEvent, { kind: 'step_finished' }>['observation']) => string,
): RecordedRun {
  const steps: RecordedStep[] = [];
  let notes = 0;
  let started: { action: string; args: string } | null = null;
  for (const event of events) {
    if (event.kind === 'note') notes += 1;
    if (event.kind === 'step_started') started = { action: event.action, args: textOf(event.args) };
    if (event.kind !== 'step_finished' || started === null) continue;
    steps.push({
      ...started,
      step: event.step,
      status: event.status,
      observation: textOf(event.observation),
      exitCode: event.exit_code,
      durationMs: event.duration_ms,
      budget: event.budget,
      undo: event.undo,
      undone: event.undone,
      submission: event.submission,
    });
    started = null;
  }
  return { steps, notes };
}

/** Brings the stack of undo entries (oldest first) up to date with what one step added and used up. */
export function updateUndoStack(stack: UndoEntry[], step: { undo?: UndoEntry[]; undone?: string[] }): void {
  for (const path of step.undone ?? []) {
    const index = stack.findLastIndex((entry) => entry.path === path);
    if (index >= 0) stack.splice(index, 1);
  }
  stack.push(...(step.undo ?? []));
}
