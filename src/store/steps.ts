import {
  type BranchId,
  type CallCharge,
  type ObjectId,
  type RunParent,
  type Spent,
  secondsUsedAfter,
  type TraceEvent,
  type TraceEventOf,
} from '../schema/index.ts';
import { type PerformedAction, PerformedActions } from './performed-actions.ts';

/** One action of a run, with its result. */
export interface TakenStep extends PerformedAction {
  step: number;
  started: TraceEventOf<'step_started'>;
  finished: TraceEventOf<'step_finished'>;
  /** The decision right before it, by a person or a policy; null if nobody was asked. */
  decided: TraceEventOf<'action_decided'> | null;
}

/**
 * The finished steps, in the order in which they ended; within one history (`historyOf`) that is by number. A step that
 * was interrupted and repeated counts once, as it was finished.
 */
export function stepsOf(events: Iterable<TraceEvent>): TakenStep[] {
  const steps: TakenStep[] = [];
  const open = new Map<BranchId, PerformedAction & Pick<TakenStep, 'started'>>();
  const actions = new PerformedActions();
  const decisions = new Map<BranchId, TraceEventOf<'action_decided'>>();
  for (const event of events) {
    actions.read(event);
    if (event.kind === 'action_decided') decisions.set(event.branch ?? 'main', event);
    if (event.kind === 'step_started')
      open.set(event.branch ?? 'main', { started: event, ...actions.of(event) });
    if (event.kind !== 'step_finished') continue;
    const branch = event.branch ?? 'main';
    const begun = open.get(branch);
    const decided = decisions.get(branch) ?? null;
    if (begun?.started.step === event.step)
      steps.push({ step: event.step, ...begun, finished: event, decided });
    open.delete(branch);
    decisions.delete(branch);
  }
  return steps;
}

/** The last recorded workspace of one history, and after which step (0: before the first); null for an empty trace. */
export function lastSnapshot(events: Iterable<TraceEvent>): { step: number; snapshot: ObjectId } | null {
  let last: { step: number; snapshot: ObjectId } | null = null;
  for (const event of events) {
    if (event.kind === 'step_finished') last = { step: event.step, snapshot: event.snapshot };
    // A later session starts with the workspace that it restored.
    if (event.kind === 'session_started') last ??= { step: 0, snapshot: event.snapshot };
  }
  return last;
}

/** The workspace of one history after every finished step, by number; step 0 is the workspace before the first. */
export function snapshotsByStep(events: Iterable<TraceEvent>): Map<number, ObjectId> {
  const snapshots = new Map<number, ObjectId>();
  for (const event of events) {
    if (event.kind === 'step_finished') snapshots.set(event.step, event.snapshot);
    if (event.kind === 'session_started' && !snapshots.has(0)) snapshots.set(0, event.snapshot);
  }
  return snapshots;
}

/** How many sessions the run had, and the seconds of budget that they used, as far as recorded. */
export function sessionsOf(events: Iterable<TraceEvent>): { sessions: number; secondsUsed: number } {
  let sessions = 0;
  let secondsUsed = 0;
  for (const event of events) {
    if (event.kind === 'session_started') sessions = Math.max(sessions, event.session);
    secondsUsed = secondsUsedAfter(event, secondsUsed);
  }
  return { sessions, secondsUsed };
}

/** The events of a run without those copied from its parent; all if it has none. */
export function ownEvents(events: readonly TraceEvent[], parent: RunParent | undefined): TraceEvent[] {
  if (parent === undefined) return [...events];
  const { run, step } = parent;
  const begin = events.findIndex(
    (event) => event.kind === 'session_started' && event.parent?.run === run && event.parent.step === step,
  );
  return begin < 0 ? [] : events.slice(begin);
}

export const nothingSpent: Spent = { calls: 0, tokens: 0, money: 0, unpriced: 0 };

/** The use of language models by a run. */
export function spentOf(events: Iterable<TraceEvent>): Spent {
  let spent = nothingSpent;
  for (const event of events) if (event.kind === 'model_call') spent = addCall(spent, event);
  return spent;
}

/** Adds a call: calls without an answer may cost money, too. */
export function addCall(
  spent: Spent,
  { answer, usage, cost }: CallCharge & { answer: object | null },
): Spent {
  const tokens = usage.input + usage.output;
  const estimated = (spent.estimated ?? 0) + (usage.source === 'estimate' ? tokens : 0);
  return {
    calls: spent.calls + (answer === null ? 0 : 1),
    tokens: spent.tokens + tokens,
    money: spent.money + (cost ?? 0),
    unpriced: spent.unpriced + (cost === null ? 1 : 0),
    ...(estimated === 0 ? {} : { estimated }),
  };
}
