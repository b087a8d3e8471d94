import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mountPoints, type RecordedRun, recordedRun } from '../environment/index.ts';
import { openToReaders } from '../lib/open-to-readers.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import { giveToAgent, type WorkspaceHolder } from '../sandbox/index.ts';
import type { RunSpec, Spent } from '../schema/index.ts';
import {
  lastSnapshot,
  outputFile,
  ownEvents,
  type RunFolder,
  readTraceSync,
  resolveText,
  restoreSnapshot,
  Snapshotter,
  sessionsOf,
  spentOf,
  type TraceWriter,
} from '../store/index.ts';
import { createWorkspace, type RunFolders, type TaskResources } from './workspace.ts';

/** What earlier sessions of a run left. */
export interface ResumeState {
  snapshotter: Snapshotter;
  recorded: RecordedRun;
  secondsUsed: number;
  spent: Spent;
  /** What answered each call of a language model, in order. */
  answeredBy: (string | null)[];
}

export interface OpenWorkspaceOptions {
  folder: RunFolder;
  resources: TaskResources;
  folders: RunFolders;
  trace: TraceWriter;
  versions: Record<string, string>;
  /** Who keeps the workspace within its limit. */
  held: WorkspaceHolder;
  signal: AbortSignal;
}

/** Makes the workspace what it was after the last finished step, and begins a session in the trace. */
export async function openWorkspace(spec: RunSpec, options: OpenWorkspaceOptions): Promise<ResumeState> {
  const { folder, resources, folders, trace, versions, held, signal } = options;
  const { objects } = folder;
  // Other users of this machine must not reach a workspace, whatever an agent makes of its permissions.
  chmodSync(dirname(folders.workspace), 0o700);
  mkdirSync(folders.outputs, { recursive: true });
  writeFileSync(folders.brief, JSON.stringify(publicManifest(resources)));
  await openToReaders(folders.outputs, folders.brief);
  const { events } = readTraceSync(folder.tracePath);
  const last = lastSnapshot(events);
  discardOutputsAfter(last?.step ?? 0, folders.outputs);
  if (last === null) createWorkspace(resources.task, folders.workspace);
  else await restoreSnapshot(objects, last.snapshot, folders.workspace, { ignore: mountPoints, signal });
  await giveToAgent(spec.sandbox, folders.workspace);
  const { sessions, secondsUsed } = sessionsOf(events);
  const snapshotter = new Snapshotter(objects, folders.workspace);
  const { id } = await snapshotter.take({ ignore: mountPoints, signal });
  trace.append({
    kind: 'session_started',
    session: sessions + 1,
    versions: { ...versions, agent: spec.agent },
    snapshot: id,
    ...(spec.parent === undefined || ownEvents(events, spec.parent).length > 0
      ? {}
      : { parent: spec.parent }),
    ...(sessions === 0 ? { limits: spec.limits, task: toldTask(resources, trace) } : {}),
    workspace_held_by: held,
    repaired_bytes: trace.repairedBytes,
    seconds_used: secondsUsed,
  });
  const recorded = recordedRun(events, (ref) => resolveText(objects, ref));
  const answeredBy = events.flatMap((event) => (event.kind === 'model_call' ? [event.answered_by] : []));
  return { snapshotter, recorded, secondsUsed, spent: spentOf(events), answeredBy };
}

/** A step that was cut off is taken again: nothing of it is left for the agent to read. */
function discardOutputsAfter(step: number, folder: string): void {
  const last = outputFile(step);
  for (const name of readdirSync(folder)) if (name > last) removeTree(join(folder, name));
}

function toldTask({ task }: TaskResources, trace: TraceWriter) {
  const { problem, entry, submission } = task.brief;
  return { problem: trace.textRef(problem), entry, submission: submission.files.map(({ path }) => path) };
}

/** What checks inside the sandbox know of the task: nothing secret. */
export function publicManifest({ task }: TaskResources): object {
  return { metric: task.file.metric, submission: task.file.submission };
}
