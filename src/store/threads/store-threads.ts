import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { CallingThread } from '../../lib/threads/calling-thread.ts';
import type { HandedOver, StoreJob, StoreJobResult } from './jobs.ts';

const module = join(import.meta.dirname, `store-thread${extname(import.meta.filename)}`);

/** In addition to the main thread. */
const maxThreads = 4;

/** A thread for slow work in large workspaces. */
export class StoreThread {
  readonly #thread = new CallingThread<StoreJob, StoreJobResult>(module, 'reads and writes workspaces');
  readonly #workspaces = new Set<number>();

  /** How many workspaces and jobs it has. */
  get load(): number {
    return this.#workspaces.size + this.#thread.waiting;
  }

  /** Makes the thread take the snapshots of a workspace from now on. */
  adopt(workspace: number, handed: HandedOver): void {
    this.#workspaces.add(workspace);
    this.#tell({ kind: 'adopt', workspace, handed });
  }

  /** Takes the workspace back. */
  release(workspace: number): void {
    this.#workspaces.delete(workspace);
    if (this.#thread.isRunning) this.#tell({ kind: 'release', workspace });
  }

  /**
   * If the thread dies, its memory is lost, and each later job for a workspace there reports that.
   * @throws the job's error, and the signal's reason; an error if the thread died
   */
  async do(job: StoreJob, signal?: AbortSignal): Promise<StoreJobResult> {
    signal?.throwIfAborted();
    try {
      return await this.#thread.call(job, signal);
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  }

  #tell(job: StoreJob): void {
    this.#thread.call(job).catch(() => {});
  }
}

const threads: StoreThread[] = [];

/** The least busy thread of this process. */
export function nextStoreThread(): StoreThread {
  const [first, ...others] = threads;
  const least = others.reduce((best, thread) => (thread.load < (best?.load ?? 0) ? thread : best), first);
  if (least !== undefined && (least.load === 0 || threads.length >= threadCount())) return least;
  const thread = new StoreThread();
  threads.push(thread);
  return thread;
}

function threadCount(): number {
  return Math.min(maxThreads, Math.max(1, availableParallelism() - 1));
}
