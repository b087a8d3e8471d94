import type { Grade, ObjectId, SubmissionState, TraceEvent } from '../schema/index.ts';
import { foldHistory } from './branches.ts';
import type { RunFolder } from './run-folder.ts';
import { eachEventSync } from './trace-reader.ts';

/** The workspace as it was recorded after a step; step 0: before the first. */
export interface RecordedState {
  step: number;
  snapshot: ObjectId;
  /** A script ran after the submission was last written, without writing it anew. */
  stale: boolean;
  /** The run ended with it. A run that has not ended, or was resumed since, has no such state. */
  final: boolean;
}

/** The states of a run's selected branch, in the order of steps. */
export function statesOf(events: readonly TraceEvent[]): RecordedState[] {
  return foldHistory(
    () => events,
    () => new StateReader(),
  ).fold.states;
}

/** Folds the events of a run into its states. */
export class StateReader {
  readonly #byStep = new Map<number, Omit<RecordedState, 'final'>>();
  #end: { snapshot: ObjectId | null; submission: SubmissionState | null } | null = null;

  read(event: TraceEvent, isInHistory = true): void {
    if (!isInHistory) return;
    if (event.kind === 'session_started') {
      this.#end = null;
      const { snapshot } = event;
      if (this.#byStep.size === 0) this.#byStep.set(0, { step: 0, snapshot, stale: false });
    }
    if (event.kind === 'step_finished') {
      const { step, snapshot, submission } = event;
      this.#byStep.set(step, { step, snapshot, stale: submission.stale });
    }
    if (event.kind === 'run_ended') this.#end = event;
  }

  /** In the order of steps. */
  get states(): RecordedState[] {
    const states = [...this.#byStep.values()].map((state) => ({ ...state, final: false }));
    const last = states.at(-1);
    if (last === undefined || this.#end === null) return states;
    const { snapshot, submission } = this.#end;
    const ended = snapshot === null || submission === null ? {} : { snapshot, stale: submission.stale };
    return [...states.slice(0, -1), { ...last, ...ended, final: true }];
  }
}

/** The states of a run's selected branch; none where it has no trace. @throws UserError as `eachEventSync` */
export function recordedStates(folder: RunFolder): RecordedState[] {
  if (!folder.hasTrace()) return [];
  return foldHistory(
    () => eachEventSync(folder.tracePath),
    () => new StateReader(),
  ).fold.states;
}

/**
 * The grades that count, in the order of steps: of each state the newest one by the newest grader. A grade of a snapshot
 * that is no state of the run any more is none of it. What a line of `grades.jsonl` says of `final` was true when it was
 * written; a run that was resumed since has another final state, or none yet.
 */
export function currentGrades(stored: readonly Grade[], states: readonly RecordedState[]): Grade[] {
  const stateAt = new Map(states.map((state) => [state.step, state]));
  const ofStates = stored.filter(({ step, snapshot }) => stateAt.get(step)?.snapshot === snapshot);
  const grader = ofStates.at(-1)?.grader;
  const newest = new Map(
    ofStates.filter((grade) => grade.grader === grader).map((grade) => [grade.step, grade]),
  );
  return states.flatMap(({ step, final }) => {
    const grade = newest.get(step);
    return grade === undefined ? [] : [{ ...grade, final }];
  });
}
