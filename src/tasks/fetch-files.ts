import { join } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { Collection, Source } from '../schema/index.ts';
import type { ListedFile } from './collection-list.ts';
import { download } from './download.ts';
import type { DownloadTiming } from './download-request.ts';
import type { Described, FileIndex } from './file-index.ts';

export interface FetchRequest {
  source: Source & { collection: Collection };
  /** The files to fetch. */
  files: readonly ListedFile[];
  /** Absolute path of the folder to put them in. */
  folder: string;
  /** The files that are there already, by name; fetched ones are added. */
  found: Map<string, Described>;
  index: FileIndex;
  timing?: Partial<DownloadTiming>;
  onProgress: (message: string) => void;
  signal: AbortSignal | null;
}

/** Codes of errors that concern one file alone. */
const oneFileOnly = ['not_found', 'no_access', 'html_page', 'server_error'];

/** After this many server errors in a row, the server is considered down. */
const serverErrorsMax = 5;

/**
 * Fetches many files, several at a time. A file appears under its name only when it is complete; files fetched before
 * an error or an abort stay for the next attempt.
 * @throws UserError if a limit is passed, the server fails, or more files are missing than the collection allows; the
 *   signal's reason if aborted
 */
export async function fetchFiles(request: FetchRequest): Promise<void> {
  await new Fetching(request).run();
}

class Fetching {
  private readonly request: FetchRequest;
  private readonly collection: Collection;
  private readonly total: number;
  private readonly gone = new Map<string, UserError | null>();
  private readonly stop = new AbortController();
  private readonly signal: AbortSignal;
  private bytes = 0;
  private serverErrors = 0;
  private told = 0;

  constructor(request: FetchRequest) {
    this.request = request;
    this.collection = request.source.collection;
    this.total = request.files.length + request.found.size;
    this.signal = AbortSignal.any([this.stop.signal, ...(request.signal === null ? [] : [request.signal])]);
    for (const { bytes } of request.found.values()) this.bytes += bytes;
  }

  async run(): Promise<void> {
    const queue = this.request.files.values();
    const workers = Array.from({ length: this.collection.at_once }, () => this.work(queue));
    // Wait for all workers before throwing, so that none writes into the folder afterwards.
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    this.request.signal?.throwIfAborted();
    if (failed !== undefined) throw this.stop.signal.reason;
    this.refuseGone();
    // Not earlier: after a failure, files that were not found are requested again.
    for (const [file, error] of this.gone) this.request.index.markGone(file, error?.code ?? 'gone');
  }

  /** Takes files one by one from the queue that all workers share. */
  private async work(queue: Iterator<ListedFile>): Promise<void> {
    try {
      for (let next = queue.next(); !next.done; next = queue.next()) {
        this.signal.throwIfAborted();
        await this.fetch(next.value);
        this.tell();
      }
    } catch (error) {
      // The first error stops the other workers, whose errors only say so.
      this.stop.abort(error);
      throw error;
    }
  }

  private async fetch(listed: ListedFile): Promise<void> {
    const { folder, found, index } = this.request;
    const { file } = listed;
    if (index.isGone(file)) {
      this.gone.set(file, null);
      return this.refuseGone();
    }
    const path = join(folder, file);
    const failure = await this.download(listed, path);
    if (failure === null) {
      const described = await index.describe(path);
      if (described === null) throw new Error(`${path} vanished while it was fetched`);
      this.bytes += described.bytes;
      if (this.bytes > this.collection.bytes_max) throw this.tooLarge();
      found.set(file, described);
      this.serverErrors = 0;
      return;
    }
    this.gone.set(file, failure);
    this.serverErrors = failure.code === 'server_error' ? this.serverErrors + 1 : 0;
    if (this.serverErrors >= serverErrorsMax) throw failure;
    this.refuseGone();
  }

  /**
   * The error of the last address, if none has the file.
   * @throws errors that do not concern this file alone
   */
  private async download({ urls }: ListedFile, destination: string): Promise<UserError | null> {
    let failure: UserError | null = null;
    for (const url of urls) {
      const left = this.collection.bytes_max - this.bytes;
      if (left <= 0) throw this.tooLarge();
      try {
        await download({
          url,
          destination,
          bytesMax: Math.min(this.collection.file_bytes_max, left),
          signal: this.signal,
          ...(this.request.timing ? { timing: this.request.timing } : {}),
        });
        return null;
      } catch (error) {
        if (!UserError.isInstance(error) || !oneFileOnly.includes(error.code)) throw error;
        failure = error;
      }
    }
    return failure;
  }

  private refuseGone(): void {
    const allowed = Math.floor(this.collection.missing_max * this.total);
    if (this.gone.size <= allowed) return;
    const first = [...this.gone]
      .slice(0, 3)
      .map(([file, error]) => error?.message ?? `${file} was missing earlier`);
    const name = this.request.source.file;
    throw new UserError(
      'files_gone',
      `${this.gone.size} of the ${this.total} files of ${name} could not be downloaded, and at most ${allowed} may be missing: ${first.join('; ')}`,
      `try again later (files that are there are not fetched again), or put the files into ${this.request.folder} by hand`,
    );
  }

  private tooLarge(): UserError {
    return new UserError(
      'too_large',
      `the files of ${this.request.source.file} are larger than ${this.collection.bytes_max} bytes together, the limit in task.yaml`,
      'check what is at their addresses, or raise bytes_max',
    );
  }

  /** Reports after about every hundredth of the files. */
  private tell(): void {
    const done = this.request.found.size + this.gone.size;
    if (done < this.total && done < this.told) return;
    this.told = done + this.total / 100;
    const size = `${Math.round(this.bytes / 2 ** 20)} MiB`;
    this.request.onProgress(
      `downloading ${this.request.source.file}: ${done} of ${this.total} files, ${size}`,
    );
  }
}
