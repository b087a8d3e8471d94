import type { ObjectId } from '../schema/index.ts';
import { locateObject } from './object-reader.ts';
import type { ObjectStore } from './object-store.ts';
import { bytesOf, readSnapshot } from './snapshot-file.ts';
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

  /** Bytes of all files in the last snapshot that was taken or restored; 0 before the first. */
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
   * Makes the workspace equal to a snapshot: as if that had just been taken of it.
   * @param options.from the workspace of another branch: unchanged files are copied from it. If a thread does that, it
   *     takes the snapshots of both from now on
   * @throws as `restoreSnapshot`
   */
  async restore(
    id: ObjectId,
    options: { ignore?: readonly string[]; from?: Snapshotter | undefined; signal?: AbortSignal },
  ): Promise<void> {
    const { ignore = [], from, signal } = options;
    if (this.#thread === null && (from === undefined || from.#thread === null) && this.#isSmall(id)) {
      const near = from === undefined ? undefined : from.#own;
      this.#bytes = (await this.#own.restore(id, { ignore, from: near, signal })).bytes;
      return;
    }
    this[Symbol.dispose]();
    const thread = this.#moveTo(from === undefined ? nextStoreThread() : from.#threadForIt());
    const near = from === undefined ? null : from.#number;
    const job: StoreJob = { kind: 'restore', workspace: this.#number, id, ignore, from: near };
    this.#bytes = (await thread.do(job, signal)).summary?.bytes ?? 0;
  }

  /** Frees what is remembered of the workspace. */
  [Symbol.dispose](): void {
    this.#thread?.release(this.#number);
    this.#thread = null;
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
    return this.#thread ?? this.#moveTo(nextStoreThread());
  }

  #moveTo(thread: StoreThread): StoreThread {
    const { state } = this.#own;
    thread.adopt(this.#number, { folder: this.#folder, objects: this.#objects.folder, state });
    this.#thread = thread;
    return thread;
  }

  #isSmall(id: ObjectId): boolean {
    const location = locateObject(this.#objects.folder, id);
    if (location === null || location.bytes > smallRestored.manifestBytes) return location === null;
    const { entries } = readSnapshot(this.#objects, id);
    if (entries.length > small.entries) return false;
    return bytesOf(entries) <= smallRestored.contentBytes;
  }
}
