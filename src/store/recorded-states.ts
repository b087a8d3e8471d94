import type { BranchId, EventOf, Grade, ObjectId, TraceEvent } from '../schema/index.ts';
import { branchesOf, foldHistory, isInLineage } from './branches.ts';
import type { RunFolder } from './run-folder.ts';
import { eachEventSync } from './trace-reader.ts';

/** The workspace recorded after a step; step 0: before the first. */
export interface RecordedState {
  /** The branch that took the step. */
  branch: BranchId;
  step: number;
  snapshot: ObjectId;
  /** A script ran after the submission was last written, without writing it again. */
  stale: boolean;
  /** What of the workspace is not in the snapshot, as far as the trace lists it; absent: nothing. */
  skipped?: EventOf<'step_finished'>['skipped'];
  /** The run ended with it. A run that has not ended, or was resumed since, has no such state. */
  final: boolean;
}

/** The workspace after a step that may not be the last. */
export function stateAfter(event: EventOf<'step_finished'>): RecordedState {
  const { branch = 'main', step, snapshot, submission } = event;
  return { branch, step, snapshot, stale: submission.stale, ...skippedIn(event), final: false };
}

/** The states of a run's selected branch, in the order of steps. */
export function statesOf(events: readonly TraceEvent[]): RecordedState[] {
  return foldHistory(
    () => events,
    () => new StateReader(),
  ).fold.states;
}

function skippedIn({ skipped }: Pick<EventOf<'step_finished'>, 'skipped'>): Pick<RecordedState, 'skipped'> {
  return skipped === undefined ? {} : { skipped };
}

/** Folds the events of a run into its states. */
export class StateReader {
  readonly #byStep = new Map<number, Omit<RecordedState, 'final'>>();
  #end: EventOf<'run_ended'> | null = null;

  read(event: TraceEvent, isInHistory = true): void {
    if (!isInHistory) return;
    if (event.kind === 'session_started') {
      this.#end = null;
      const { snapshot } = event;
      if (this.#byStep.size === 0) this.#byStep.set(0, { branch: 'main', step: 0, snapshot, stale: false });
    }
    if (event.kind === 'step_finished') {
      this.#byStep.set(event.step, stateAfter(event));
    }
    if (event.kind === 'run_ended') this.#end = event;
  }

  /** In the order of steps. */
  get states(): RecordedState[] {
    const states = [...this.#byStep.values()].map((state) => ({ ...state, final: false }));
    const last = states.at(-1);
    if (last === undefined || this.#end === null) return states;
    const { snapshot, submission } = this.#end;
    if (snapshot === null || submission === null) return [...states.slice(0, -1), { ...last, final: true }];
    const { branch, step } = last;
    const ended = { branch, step, snapshot, stale: submission.stale, ...skippedIn(this.#end), final: true };
    return [...states.slice(0, -1), ended];
  }
}

/**
 * The states of a run's selected branch; none if it has no trace.
 * @throws UserError as `eachEventSync`
 */
export function recordedStates(folder: RunFolder): RecordedState[] {
  if (!folder.hasTrace()) return [];
  return foldHistory(
    () => eachEventSync(folder.tracePath),
    () => new StateReader(),
  ).fold.states;
}

/**
 * The states of all branches: the history of the selected one, then the steps that only other branches have.
 * @throws UserError as `eachEventSync`
 */
export function statesOfTree(folder: RunFolder): RecordedState[] {
  if (!folder.hasTrace()) return [];
  const lineage = branchesOf(eachEventSync(folder.tracePath)).lineage();
  const others: RecordedState[] = [];
  for (const event of eachEventSync(folder.tracePath)) {
    if (event.kind !== 'step_finished' || isInLineage(event, lineage)) continue;
    others.push(stateAfter(event));
  }
  return [...recordedStates(folder), ...others];
}

/**
 * The grades that count, in the order of the states: for each the newest one by the newest grader. Grades of snapshots
 * that are none of these states are left out. The `final` of a line of `grades.jsonl` was true when it was written; a
 * run that was resumed since has another final state, or none yet.
 */
export function currentGrades(stored: readonly Grade[], states: readonly RecordedState[]): Grade[] {
  // Older grades have no branch.
  const known = new Set(states.flatMap((state) => [keyOf(state), keyOf({ ...state, branch: 'main' })]));
  const ofStates = stored.filter((grade) => known.has(keyOf(grade)));
  const grader = ofStates.at(-1)?.grader;
  const newest = new Map(
    ofStates.filter((grade) => grade.grader === grader).map((grade) => [keyOf(grade), grade]),
  );
  return states.flatMap((state) => {
    const grade = newest.get(keyOf(state)) ?? newest.get(keyOf({ ...state, branch: 'main' }));
    const { branch, final } = state;
    return grade === undefined ? [] : [{ ...grade, ...(branch === 'main' ? {} : { branch }), final }];
  });
}

function keyOf({ branch = 'main', step, snapshot }: Pick<Grade, 'branch' | 'step' | 'snapshot'>): string {
  return `${branch} ${step} ${snapshot}`;
}
