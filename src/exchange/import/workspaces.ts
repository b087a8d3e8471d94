import { closeSync, fstatSync } from 'node:fs';
import { hasCode, UserError } from '../../lib/errors.ts';
import { openRegularFile } from '../../lib/regular-file.ts';
import {
  type ObjectId,
  ObjectId as ObjectIdSchema,
  type SnapshotEntry,
  type SubmissionState,
} from '../../schema/index.ts';
import { type ObjectStore, storeSnapshot, submissionHash } from '../../store/index.ts';
import { notRecordedName, notRecordedText } from '../original/not-recorded.ts';
import type { OriginalFile } from '../original/original-run.ts';
import type { KnownContents } from './known-contents.ts';

/** Names directly in a workspace that our own snapshots leave out, too: the mount point of the task's data. */
const leftOut: ReadonlySet<string> = new Set(['data']);

export interface WorkspaceOptions {
  objects: ObjectStore;
  contents: KnownContents;
  /** The submission's files. */
  submission: readonly string[];
  signal: AbortSignal;
}

/** A stored workspace, and the changes of one step. */
export interface KeptWorkspace {
  snapshot: ObjectId;
  /** Paths that were added, removed or changed, whether or not their content is known; sorted. */
  changed: string[];
  submission: SubmissionState;
}

/** The files of a listing that our store can keep: each path once, and none that is also a folder. */
export function keptFiles(listing: readonly OriginalFile[]): OriginalFile[] {
  const byPath = new Map(listing.map((file) => [file.path, file]));
  for (const { path } of foldersOf(listing)) byPath.delete(path);
  byPath.delete(notRecordedName);
  return [...byPath.values()].filter(({ path }) => !leftOut.has(path.split('/')[0] ?? ''));
}

/** Stores the successive workspaces of one run, by the rules of our store. */
export class Workspaces {
  readonly #options: WorkspaceOptions;
  /** Hash and time of the last change by path: the original records no times of files. */
  #files = new Map<string, { hash: string; time: number }>();
  #writtenAt: number | null = null;
  readonly #sizes = new Map<ObjectId, number>();

  constructor(options: WorkspaceOptions) {
    this.#options = options;
  }

  /**
   * @param listing null: it was not recorded
   * @param step whose workspace it is; 0: before the first
   * @param time of the step, milliseconds since 1970
   */
  async keep(listing: readonly OriginalFile[] | null, step: number, time: number): Promise<KeptWorkspace> {
    if (listing === null) return this.#unknown(time);
    const files = keptFiles(listing);
    const changed = this.#follow(files, time);
    const { submission } = this.#options;
    if (step > 0 && changed.some((path) => submission.includes(path))) this.#writtenAt = step;
    const entries: SnapshotEntry[] = [];
    const missing: OriginalFile[] = [];
    for (const file of files) {
      const object = await this.#objectOf(file);
      if (object === null) missing.push(file);
      else entries.push(this.#entry(file.path, object, file.bytes, time));
    }
    if (missing.length > 0) entries.push(this.#listOf(missing, time));
    const hash = submissionHash(
      entries,
      submission.map((path) => ({ path })),
    );
    const present = submission.length > 0 && submission.every((path) => this.#files.has(path));
    // It is unknown whether a script rewrote the same content, so nothing is called stale.
    const state = { present, hash: present ? hash : null, written_at_step: this.#writtenAt, stale: false };
    return { snapshot: this.#store(entries), changed, submission: state };
  }

  #unknown(time: number): KeptWorkspace {
    const submission = { present: false, hash: null, written_at_step: this.#writtenAt, stale: false };
    return { snapshot: this.#store([this.#listOf(null, time)]), changed: [], submission };
  }

  /** Notes the current content of the workspace; returns what has changed. */
  #follow(files: readonly OriginalFile[], time: number): string[] {
    const before = this.#files;
    this.#files = new Map(
      files.map(({ path, hash }) => {
        const old = before.get(path);
        return [path, old?.hash === hash ? old : { hash, time }];
      }),
    );
    const gone = [...before.keys()].filter((path) => !this.#files.has(path));
    const differing = files
      .filter(({ path, hash }) => before.get(path)?.hash !== hash)
      .map(({ path }) => path);
    return [...gone, ...differing].sort();
  }

  async #objectOf(file: OriginalFile): Promise<ObjectId | null> {
    const { objects, contents, signal } = this.#options;
    const known = ObjectIdSchema.safeParse(file.hash);
    if (known.success && objects.has(known.data)) {
      const bytes = file.source === null ? await this.#bytesOf(known.data) : file.bytes;
      return bytes === file.bytes ? known.data : null;
    }
    if (file.source === null) {
      const content = contents.find(file);
      return content === null ? null : objects.putBytes(content);
    }
    const id = await this.#kept(file.source, file.bytes, signal);
    // The file may have changed since it was hashed.
    return id === file.hash ? id : null;
  }

  /** A listing may say anything of a content that is stored already. */
  async #bytesOf(id: ObjectId): Promise<number> {
    const bytes = this.#sizes.get(id) ?? (await this.#options.objects.measure(id, this.#options.signal));
    this.#sizes.set(id, bytes);
    return bytes;
  }

  /** Null if it is no longer the file that was hashed. */
  async #kept(source: string, bytes: number, signal: AbortSignal): Promise<ObjectId | null> {
    let descriptor: number | null = null;
    try {
      descriptor = openRegularFile(source);
      if (fstatSync(descriptor).size !== bytes) return null;
      return (await this.#options.objects.putFile(descriptor, signal)).id;
    } catch (error) {
      if (UserError.isInstance(error) || hasCode(error, 'ENOENT') || hasCode(error, 'EACCES')) return null;
      throw error;
    } finally {
      if (descriptor !== null) closeSync(descriptor);
    }
  }

  #listOf(missing: readonly OriginalFile[] | null, time: number): SnapshotEntry {
    const text = notRecordedText(missing);
    const object = this.#options.objects.putText(text);
    return this.#entry(notRecordedName, object, Buffer.byteLength(text), time);
  }

  #entry(path: string, object: ObjectId, size: number, time: number): SnapshotEntry {
    return { path, object, size, mode: 0o644, mtime: this.#files.get(path)?.time ?? time };
  }

  #store(entries: readonly SnapshotEntry[]): ObjectId {
    return storeSnapshot(this.#options.objects, [...entries, ...foldersOf(entries)]);
  }
}

/** Every folder that contains an entry. */
function foldersOf(entries: readonly { path: string }[]): SnapshotEntry[] {
  const folders = new Set<string>();
  for (const { path } of entries) {
    for (let cut = path.indexOf('/'); cut >= 0; cut = path.indexOf('/', cut + 1))
      folders.add(path.slice(0, cut));
  }
  return [...folders].map((path) => ({ path, folder: true }));
}
