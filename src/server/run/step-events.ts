import type { ObjectId, TraceEvent, TraceEventOf } from '../../schema/index.ts';
import { type PerformedAction, PerformedActions } from '../../store/index.ts';
import { readEvents, stepEvents } from '../trace/read-events.ts';
import type { TraceTable } from '../trace/trace-table.ts';

/** The events of one step. */
export interface StepEvents {
  started: (TraceEventOf<'step_started'> & PerformedAction) | null;
  /** The last decision of the run's gate before it. */
  decided: TraceEventOf<'action_decided'> | null;
  finished: TraceEventOf<'step_finished'> | null;
  notes: TraceEventOf<'note'>[];
  calls: TraceEventOf<'model_call'>[];
  sessions: TraceEventOf<'session_started'>[];
  ended: TraceEventOf<'run_ended'> | null;
}

/** @param step the step after the last one that ended means: everything since */
export async function readStepEvents(
  path: string,
  table: TraceTable,
  step: number,
  signal?: AbortSignal,
): Promise<StepEvents> {
  const found: StepEvents = {
    started: null,
    decided: null,
    finished: null,
    notes: [],
    calls: [],
    sessions: [],
    ended: null,
  };
  const actions = new PerformedActions();
  for await (const event of stepEvents(path, table, step, { signal })) {
    actions.read(event);
    add(found, event, actions);
  }
  return found;
}

function add(found: StepEvents, event: TraceEvent, actions: PerformedActions): void {
  switch (event.kind) {
    case 'step_started':
      // For a step that was cut off and begun again, the last beginning counts.
      found.started = { ...event, ...actions.of(event) };
      return;
    case 'action_decided':
      found.decided = event;
      return;
    case 'step_finished':
      found.finished = event;
      return;
    case 'note':
      found.notes.push(event);
      return;
    case 'model_call':
      found.calls.push(event);
      return;
    case 'session_started':
      found.sessions.push(event);
      return;
    case 'run_ended':
      found.ended = event;
      return;
    case 'output':
      return;
  }
}

/** The workspace after a step (0: before the first); null if it is not recorded yet. */
export async function snapshotAfter(
  path: string,
  table: TraceTable,
  step: number,
  signal?: AbortSignal,
): Promise<ObjectId | null> {
  if (step === 0) return await firstSnapshot(path, table, signal);
  if (step > table.steps) return null;
  return (await readStepEvents(path, table, step, signal)).finished?.snapshot ?? null;
}

async function firstSnapshot(
  path: string,
  { first }: TraceTable,
  signal?: AbortSignal,
): Promise<ObjectId | null> {
  if (first === null) return null;
  const range = { from: first.offset, to: first.offset + first.bytes + 1 };
  for await (const event of readEvents(path, range, { signal })) {
    if (event.kind === 'session_started') return event.snapshot;
  }
  return null;
}
