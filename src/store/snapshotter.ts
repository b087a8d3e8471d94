import type { ObjectId } from '../schema/index.ts';
import { locateObject } from './object-reader.ts';
import type { ObjectStore } from './object-store.ts';
import { restoreSnapshot } from './restore.ts';
import { readSnapshot } from './snapshot-file.ts';
import { type SnapshotSummary, summaryOf } from './snapshot-summary.ts';
import { type SnapshotOptions, SnapshotTaker } from './snapshot-taker.ts';
import type { StoreJob } from './threads/jobs.ts';
import { nextStoreThread, type StoreThread } from './threads/store-threads.ts';
import type { Effort } from './workspace-walk.ts';

/** Small workspaces are walked by the calling thread: handing them over would take longer. */
const small: Effort = { entries: 256, bytes: 2 ** 18 };
/** The same for restoring: the size of a snapshot's object, as stored, and of its contents together. */
const smallRestored = { manifestBytes: 2 ** 14, contentBytes: 2 ** 20 };

let workspaces = 0;

/**
 * The successive snapshots of one workspace. While the workspace is small, the calling thread takes them; from then on
 * a thread of the store does, so that a large workspace does not block others. See `SnapshotTaker`.
 */
export class Snapshotter implements Disposable {
  readonly #objects: ObjectStore;
  readonly #folder: string;
  /** Used until a thread takes over. */
  readonly #own: SnapshotTaker;
  readonly #number = ++workspaces;
  #thread: StoreThread | null = null;
  #bytes = 0;

  /** @param folder absolute path of the workspace */
  constructor(objects: ObjectStore, folder: string) {
    this.#objects = objects;
    this.#folder = folder;
    this.#own = new SnapshotTaker(objects, folder);
  }

  /** Bytes of all files in the last snapshot; 0 before the first. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The first one reads everything, unless it was restored, and reports everything as changed. */
  async take(options: SnapshotOptions = {}): Promise<SnapshotSummary> {
    const own = this.#thread === null ? await this.#own.takeWithin(small, options) : null;
    const summary = own === null ? await this.#takeInThread(options) : summaryOf(own, options.first);
    this.#bytes = summary.bytes;
    return summary;
  }

  /**
   * Makes the workspace equal to a snapshot. Nothing may run in it until the next snapshot has been taken, which reads
   * only files that differ from the restored ones.
   * @param options.from the workspace of another branch: unchanged files are copied from it
   * @throws as `restoreSnapshot`
   */
  async restore(
    id: ObjectId,
    options: { ignore?: readonly string[]; from?: Snapshotter | undefined; signal?: AbortSignal },
  ): Promise<void> {
    const { ignore = [], from, signal } = options;
    if (from !== undefined) await from.#copyTo(this.#folder, id, ignore, signal);
    else if (this.#isSmall(id)) await restoreSnapshot(this.#objects, id, this.#folder, { ignore, signal });
    else {
      const job: StoreJob = {
        kind: 'restore',
        objects: this.#objects.folder,
        id,
        folder: this.#folder,
        ignore,
      };
      await this.#threadForIt().do(job, signal);
    }
    if (this.#thread === null && this.#isSmall(id)) this.#own.expectRestored(id);
    else await this.#threadForIt().do({ kind: 'expect', workspace: this.#number, id }, signal);
  }

  /** Frees what is remembered of the workspace. */
  [Symbol.dispose](): void {
    this.#thread?.release(this.#number);
    this.#thread = null;
  }

  async #copyTo(
    folder: string,
    id: ObjectId,
    ignore: readonly string[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    if (this.#thread === null && this.#isSmall(id)) {
      const source = { workspace: this.#folder, tree: this.#own.state.tree };
      await restoreSnapshot(this.#objects, id, folder, { ignore, source, signal });
    } else {
      const job: StoreJob = { kind: 'copy', workspace: this.#number, id, folder, ignore };
      await this.#threadForIt().do(job, signal);
    }
  }

  async #takeInThread({ signal, ...options }: SnapshotOptions): Promise<SnapshotSummary> {
    const job: StoreJob = { kind: 'snapshot', workspace: this.#number, options };
    const { summary, writtenBytes } = await this.#threadForIt().do(job, signal);
    if (summary === null) throw new Error('a thread took no snapshot');
    this.#objects.countWritten(writtenBytes);
    return summary;
  }

  /** The workspace stays with this thread. */
  #threadForIt(): StoreThread {
    if (this.#thread !== null) return this.#thread;
    this.#thread = nextStoreThread();
    const { state } = this.#own;
    this.#thread.adopt(this.#number, { folder: this.#folder, objects: this.#objects.folder, state });
    return this.#thread;
  }

  #isSmall(id: ObjectId): boolean {
    const location = locateObject(this.#objects.folder, id);
    if (location === null || location.bytes > smallRestored.manifestBytes) return location === null;
    const { entries } = readSnapshot(this.#objects, id);
    if (entries.length > small.entries) return false;
    const bytes = entries.reduce((sum, entry) => sum + ('object' in entry ? entry.size : 0), 0);
    return bytes <= smallRestored.contentBytes;
  }
}
