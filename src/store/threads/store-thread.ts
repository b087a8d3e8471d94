/** A thread of the store, see `StoreThread`: walks large workspaces, and hashes, restores and removes their files. */
import { parentPort } from 'node:worker_threads';
import { UserError } from '../../lib/errors.ts';
import { lowerPriority } from '../../lib/lower-priority.ts';
import { removeTreeSlowly } from '../../lib/read-only-tree.ts';
import { ObjectStore } from '../object-store.ts';
import { restoreSnapshot } from '../restore.ts';
import { summaryOf } from '../snapshot-summary.ts';
import { SnapshotTaker } from '../snapshot-taker.ts';
import type { Failure, HandedOver, JobResult, Order, Reply, StoreJob } from './jobs.ts';

interface Workspace {
  folder: string;
  objects: ObjectStore;
  taker: SnapshotTaker;
}

const niceness = 5;
const workspaces = new Map<number, Workspace>();
const underWay = new Map<number, AbortController>();

// On Linux this affects only this thread. Many runs wait for the main thread, and only one for this.
if (process.platform === 'linux') lowerPriority(niceness);

parentPort?.on('message', (order: Order) => {
  if (order.kind === 'adopt') workspaces.set(order.workspace, adopted(order.handed));
  else if (order.kind === 'release') workspaces.delete(order.workspace);
  else if (order.kind === 'abort') underWay.get(order.id)?.abort();
  else void answer(order.id, order.job);
});

function adopted({ folder, objects: objectsFolder, state }: HandedOver): Workspace {
  const objects = new ObjectStore(objectsFolder);
  return { folder, objects, taker: new SnapshotTaker(objects, folder, state) };
}

/** Never rejects. */
async function answer(id: number, job: StoreJob): Promise<void> {
  const controller = new AbortController();
  underWay.set(id, controller);
  let reply: Reply;
  try {
    reply = { id, result: await perform(job, controller.signal) };
  } catch (error) {
    reply = { id, failure: failureOf(error) };
  }
  underWay.delete(id);
  parentPort?.postMessage(reply);
}

async function perform(job: StoreJob, signal: AbortSignal): Promise<JobResult> {
  const nothing: JobResult = { summary: null, writtenBytes: 0 };
  switch (job.kind) {
    case 'snapshot': {
      const { objects, taker } = workspaceOf(job.workspace);
      const before = objects.writtenBytes;
      const taken = await taker.take({ ...job.options, signal });
      return { summary: summaryOf(taken, job.options.first), writtenBytes: objects.writtenBytes - before };
    }
    case 'expect':
      workspaceOf(job.workspace).taker.expectRestored(job.id);
      return nothing;
    case 'restore': {
      const { ignore } = job;
      await restoreSnapshot(new ObjectStore(job.objects), job.id, job.folder, { ignore, signal });
      return nothing;
    }
    case 'copy': {
      const { ignore } = job;
      const { folder, objects, taker } = workspaceOf(job.workspace);
      const source = { workspace: folder, tree: taker.state.tree };
      await restoreSnapshot(objects, job.id, job.folder, { ignore, source, signal });
      return nothing;
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

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, code: undefined, hint: undefined };
  const { name, message, stack } = error;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { name, message, stack, code, hint: UserError.isInstance(error) ? error.hint : undefined };
}
