import { availableParallelism } from 'node:os';
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { UserError } from '../../lib/errors.ts';
import type { Failure, HandedOver, JobResult, Order, Reply, StoreJob } from './jobs.ts';

/** In addition to the main thread. */
const maxThreads = 4;

interface Waiting {
  take: (result: JobResult) => void;
  fail: (error: Error) => void;
}

/** A thread for slow work in large workspaces. It starts on demand, and keeps no process alive. */
export class StoreThread {
  readonly #waiting = new Map<number, Waiting>();
  readonly #workspaces = new Set<number>();
  #worker: Worker | null = null;
  #jobs = 0;

  /** How many workspaces and jobs it has. */
  get load(): number {
    return this.#workspaces.size + this.#waiting.size;
  }

  /** Makes the thread take the snapshots of a workspace from now on. */
  adopt(workspace: number, handed: HandedOver): void {
    this.#workspaces.add(workspace);
    this.#send({ kind: 'adopt', workspace, handed });
  }

  /** Takes the workspace back. */
  release(workspace: number): void {
    this.#workspaces.delete(workspace);
    if (this.#worker !== null) this.#send({ kind: 'release', workspace });
  }

  /** @throws the job's error, and the signal's reason; an error if the thread died */
  async do(job: StoreJob, signal?: AbortSignal): Promise<JobResult> {
    signal?.throwIfAborted();
    const id = ++this.#jobs;
    const abort = () => this.#send({ kind: 'abort', id });
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<JobResult>((take, fail) => {
        this.#waiting.set(id, { take, fail });
        this.#send({ kind: 'do', id, job }).ref();
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  #send(order: Order): Worker {
    this.#worker ??= this.#start();
    this.#worker.postMessage(order);
    return this.#worker;
  }

  #start(): Worker {
    const worker = new Worker(join(import.meta.dirname, `store-thread${extname(import.meta.filename)}`));
    worker.unref();
    worker.on('message', (reply: Reply) => this.#settle(worker, reply));
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, null));
    return worker;
  }

  #settle(worker: Worker, reply: Reply): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) worker.unref();
    if ('result' in reply) waiting?.take(reply.result);
    else waiting?.fail(errorOf(reply.failure));
  }

  /** The thread's memory is lost; the next job for a workspace there reports that. */
  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const error = new Error('A thread that reads and writes workspaces has ended.', { cause });
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
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

function errorOf({ name, message, stack, code, hint }: Failure): Error {
  if (hint !== undefined) return new UserError(code ?? 'unknown', message, hint);
  return Object.assign(
    new Error(message),
    { name, ...(code === undefined ? {} : { code }) },
    stack ? { stack } : {},
  );
}
