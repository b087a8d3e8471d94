import type { ObjectId, TextRef, TraceEvent } from '../schema/index.ts';
import type { ObjectStore } from './object-store.ts';
import type { RunFolder } from './run-folder.ts';
import { readSnapshot } from './snapshot-file.ts';
import { eachEventSync } from './trace-reader.ts';

/** Every text that an event refers to directly; a conversation's other texts are those of earlier calls. */
export function textsOf(event: TraceEvent): TextRef[] {
  switch (event.kind) {
    case 'step_started':
    case 'action_proposed':
      return [event.args];
    case 'action_decided':
      return event.replacement === undefined ? [] : [event.replacement.args];
    case 'session_started':
      return event.task === undefined ? [] : [event.task.problem];
    case 'step_finished':
      return [
        event.observation,
        ...(event.inner ?? []).flatMap(({ args, observation }) => [args, observation]),
      ];
    case 'note':
      return Object.values(event.entries);
    case 'model_call': {
      const { messages, tools, answer, wire } = event;
      const sent = wire === undefined ? [] : [...wire.request, wire.response];
      return [...messages, tools, answer, ...sent].flatMap((text) =>
        text === null || 'call' in text ? [] : [text],
      );
    }
    case 'run_ended':
      return event.final_answer === null ? [] : [event.final_answer];
    default:
      return [];
  }
}

/** Every object that an event refers to: its texts, its snapshot with all files, and what it overwrote. */
export function objectsOf(event: TraceEvent, objects: ObjectStore): ObjectId[] {
  const texts = textsOf(event).flatMap((text) => ('object' in text ? [text.object] : []));
  const snapshot = 'snapshot' in event ? event.snapshot : null;
  const files =
    snapshot === null
      ? []
      : readSnapshot(objects, snapshot).entries.flatMap((entry) => ('object' in entry ? [entry.object] : []));
  const undo = event.kind === 'step_finished' ? event.undo.flatMap(({ before }) => before ?? []) : [];
  return [...texts, ...(snapshot === null ? [] : [snapshot]), ...files, ...undo];
}

/** Every object that a run's trace refers to. */
export function objectsOfRun(run: RunFolder): Set<ObjectId> {
  const found = new Set<ObjectId>();
  if (!run.hasTrace()) return found;
  for (const event of eachEventSync(run.tracePath))
    for (const id of objectsOf(event, run.objects)) found.add(id);
  return found;
}
