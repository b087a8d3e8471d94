import { cpSync, existsSync } from 'node:fs';
import { basename } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { EventPayload, ObjectId, RunParent, Spent, TraceEvent } from '../schema/index.ts';
import { branchesOf, historyOf, isInLineage } from './branches.ts';
import { objectsOf } from './references.ts';
import { outputFile, type RunFolder } from './run-folder.ts';
import { lastSnapshot, nothingSpent, ownEvents, spentOf } from './steps.ts';
import { readTraceSync } from './trace-reader.ts';

/**
 * Begins a run as a copy of another one up to a step: its events up to there, every object that they refer to, and its
 * long outputs. A run that already has a session is left as it is. The caller holds the new run's lease.
 * @param parent names the source, and its step: 0 for the start, before the first step
 * @throws UserError `unknown_step`
 */
export async function forkRun(
  source: RunFolder,
  parent: RunParent,
  target: RunFolder,
  signal?: AbortSignal,
): Promise<void> {
  if (target.hasTrace() && ownEvents(readTraceSync(target.tracePath).events, parent).length > 0) return;
  const { step } = parent;
  const { events } = readTraceSync(source.tracePath);
  const kept = eventsUntil(events, step);
  if (kept === null) {
    const last = lastSnapshot(historyOf(events))?.step ?? 0;
    throw new UserError(
      'unknown_step',
      `The run ${source.id} has no step ${step}.`,
      `It has the steps 0 to ${last}.`,
    );
  }
  // A branch is in the experiment of its run, with which it shares the store.
  const isElsewhere = source.objects.folder !== target.objects.folder;
  const copied = new Set<ObjectId>();
  await using trace = target.openTrace();
  if (trace.head.events < kept.length) copyOutputs(source, step, target);
  for (const event of kept.slice(trace.head.events)) {
    for (const id of isElsewhere ? objectsOf(event, source.objects) : []) {
      if (copied.has(id)) continue;
      copied.add(id);
      await target.objects.copyFrom(source.objects, id, signal);
    }
    trace.append(payloadOf(event));
  }
}

/** What a run has spent on language models up to the end of a step: the part that its forks share with it. */
export function spentUntil(source: RunFolder, step: number): Spent {
  return source.hasTrace()
    ? spentOf(eventsUntil(readTraceSync(source.tracePath).events, step) ?? [])
    : nothingSpent;
}

/** They are beside the trace, and the agent may read them again. */
function copyOutputs(source: RunFolder, step: number, target: RunFolder): void {
  if (!existsSync(source.outputsFolder)) return;
  const last = outputFile(step);
  cpSync(source.outputsFolder, target.outputsFolder, {
    recursive: true,
    filter: (path) => path === source.outputsFolder || basename(path) <= last,
  });
}

/** The events up to the end of a step of the selected branch; null if that has no such step. */
function eventsUntil(events: readonly TraceEvent[], step: number): TraceEvent[] | null {
  const lineage = branchesOf(events).lineage();
  const end =
    step === 0
      ? events.findIndex(({ kind }) => kind === 'session_started')
      : events.findLastIndex(
          (event) => event.kind === 'step_finished' && event.step === step && isInLineage(event, lineage),
        );
  return end < 0 ? null : events.slice(0, end + 1);
}

function payloadOf(event: TraceEvent): EventPayload {
  const { v, seq, time, prev, ...payload } = event;
  return payload;
}
