import { isUtf8 } from 'node:buffer';
import { UserError } from '../lib/errors.ts';
import { plainLine } from '../lib/plain-line.ts';
import { ObjectId, type SnapshotEntry, type StepSummary } from '../schema/index.ts';
import { changedFiles, type FileChange, type RunTranscript, summarizeStep } from '../statistics/index.ts';
import { type ObjectStore, readSnapshot } from '../store/index.ts';

const maxCharacters = 160;
/** Larger files are not compared. */
const maxFileBytes = 2 ** 18;
/** For all snapshots and files of a run together; beyond that, files are only named. */
const maxBytes = 2 ** 28;
/** The approximate size of a snapshot's entry. */
const entryBytes = 150;

/** A one-line summary of each step of a run: without control characters, whatever the agent wrote. */
export function stepSummaries(objects: ObjectStore, { steps, starter }: RunTranscript): StepSummary[] {
  const workspaces = new Workspaces(objects);
  return steps.map((step, index) => {
    const before = steps[index - 1]?.snapshot ?? starter;
    const changes = workspaces.changes(changedFiles(step), before, step.snapshot);
    return { step: step.step, text: plainLine(summarizeStep(step, changes), maxCharacters) };
  });
}

/** By path. Null: not known. */
type Workspace = ReadonlyMap<string, SnapshotEntry> | null;

/** Reads files of snapshots, up to a limit. */
class Workspaces {
  readonly #objects: ObjectStore;
  #left = maxBytes;
  /** The next step is compared with it. */
  #last: { id: string; workspace: Workspace } | null = null;

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  changes(paths: readonly string[], before: string | null, after: string): FileChange[] {
    if (paths.length === 0) return [];
    const old = this.#workspace(before);
    const fresh = this.#workspace(after);
    return paths.map((path) => ({ path, before: this.#file(old, path), after: this.#file(fresh, path) }));
  }

  #workspace(id: string | null): Workspace {
    if (id === null) return null;
    if (this.#last?.id !== id) this.#last = { id, workspace: this.#read(id) };
    return this.#last.workspace;
  }

  #read(id: string): Workspace {
    const name = ObjectId.safeParse(id).data;
    if (name === undefined || this.#left <= 0) return null;
    const entries = unlessDamaged(() => readSnapshot(this.#objects, name).entries);
    this.#left -= entryBytes * (entries?.length ?? 0);
    return entries && new Map(entries.map((entry) => [entry.path, entry]));
  }

  #file(workspace: Workspace, path: string): FileChange['after'] {
    if (workspace === null) return { text: null };
    const entry = workspace.get(path);
    if (entry === undefined) return null;
    if (!('object' in entry) || entry.size > maxFileBytes || this.#left <= 0) return { text: null };
    this.#left -= entry.size;
    const content = unlessDamaged(() => this.#objects.get(entry.object, maxFileBytes));
    const isText = content !== null && isUtf8(content) && !content.includes(0);
    return { text: isText ? content.toString('utf8') : null };
  }
}

/** A summary leaves out what can't be read; the step's own page reports the problem. */
function unlessDamaged<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (UserError.isInstance(error)) return null;
    throw error;
  }
}
