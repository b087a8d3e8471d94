/** A thread of the store, see `StoreThread`: walks large workspaces, and hashes, restores and removes their files. */
import { lowerPriority } from '../../lib/lower-priority.ts';
import { removeTreeSlowly } from '../../lib/read-only-tree.ts';
import { answerCalls } from '../../lib/threads/answer-calls.ts';
import { ObjectStore } from '../object-store.ts';
import { summaryOf } from '../snapshot-summary.ts';
import { SnapshotTaker } from '../snapshot-taker.ts';
import type { HandedOver, StoreJob, StoreJobResult } from './jobs.ts';

interface Workspace {
  folder: string;
  objects: ObjectStore;
  taker: SnapshotTaker;
}

const niceness = 10;
const workspaces = new Map<number, Workspace>();

// On Linux this affects only this thread. Many runs wait for the main thread, and only one for this.
if (process.platform === 'linux') lowerPriority(niceness);

answerCalls(perform);

function adopted({ folder, objects: objectsFolder, state }: HandedOver): Workspace {
  const objects = new ObjectStore(objectsFolder);
  return { folder, objects, taker: new SnapshotTaker(objects, folder, state) };
}

async function perform(job: StoreJob, signal: AbortSignal): Promise<StoreJobResult> {
  const nothing: StoreJobResult = { summary: null, writtenBytes: 0 };
  switch (job.kind) {
    case 'adopt':
      workspaces.set(job.workspace, adopted(job.handed));
      return nothing;
    case 'release':
      workspaces.delete(job.workspace);
      return nothing;
    case 'snapshot': {
      const { objects, taker } = workspaceOf(job.workspace);
      const before = objects.writtenBytes;
      const taken = await taker.take({ ...job.options, signal });
      return { summary: summaryOf(taken, job.options.first), writtenBytes: objects.writtenBytes - before };
    }
    case 'restore': {
      const from = job.from === null ? undefined : workspaceOf(job.from).taker;
      const restored = await workspaceOf(job.workspace).taker.restore(job.id, {
        ignore: job.ignore,
        from,
        signal,
      });
      return { summary: summaryOf(restored), writtenBytes: 0 };
    }
    case 'remove':
      await removeTreeSlowly(job.folder, signal);
      return nothing;
  }
}

function workspaceOf(number: number): Workspace {
  const found = workspaces.get(number);
  if (found === undefined) throw new Error(`workspace ${number} is not with this thread`);
  return found;
}
