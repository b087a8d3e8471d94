import { Worker } from 'node:worker_threads';
import { errorOf, type Failure } from './failure.ts';

/** To a thread. */
export type Order<Call> = { id: number; call: Call } | { id: number; abort: true };

/** From a thread. */
export type Reply<Value> = { id: number } & ({ value: Value } | { failure: Failure });

interface Waiting<Value> {
  take: (value: Value) => void;
  fail: (error: Error) => void;
}

/**
 * A call's data is soon garbage. Collections of a larger young generation would take processors from other threads for
 * longer.
 */
const resourceLimits = { maxYoungGenerationSizeMb: 24 };

/**
 * A thread whose module answers calls by `answerCalls`. It starts with the first call, and keeps no process alive unless
 * a call waits for it.
 */
export class CallingThread<Call, Value> {
  readonly #module: string;
  readonly #purpose: string;
  readonly #waiting = new Map<number, Waiting<Value>>();
  #worker: Worker | null = null;
  #calls = 0;

  /**
   * @param module absolute path
   * @param purpose such as "reads files", for the message if it ends
   */
  constructor(module: string, purpose: string) {
    this.#module = module;
    this.#purpose = purpose;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  get isRunning(): boolean {
    return this.#worker !== null;
  }

  /**
   * Calls are begun in their order. An aborted one ends when the thread has answered.
   * @param signal not aborted yet
   * @throws what the thread threw; an error if the thread died
   */
  async call(call: Call, signal?: AbortSignal): Promise<Value> {
    const id = ++this.#calls;
    const abort = () => this.#worker?.postMessage({ id, abort: true } satisfies Order<Call>);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await new Promise<Value>((take, fail) => {
        this.#worker ??= this.#start();
        this.#worker.postMessage({ id, call } satisfies Order<Call>);
        this.#worker.ref();
        this.#waiting.set(id, { take, fail });
      });
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }

  #start(): Worker {
    const worker = new Worker(this.#module, { resourceLimits });
    worker.on('message', (reply: Reply<Value>) => this.#settle(worker, reply));
    worker.on('error', (error) => this.#lose(worker, error));
    worker.on('exit', () => this.#lose(worker, null));
    return worker;
  }

  #settle(worker: Worker, reply: Reply<Value>): void {
    const waiting = this.#waiting.get(reply.id);
    this.#waiting.delete(reply.id);
    if (this.#waiting.size === 0) worker.unref();
    if ('value' in reply) waiting?.take(reply.value);
    else waiting?.fail(errorOf(reply.failure));
  }

  /** Its memory is lost; the next call starts another. */
  #lose(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return;
    this.#worker = null;
    const error = new Error(`A thread that ${this.#purpose} has ended.`, { cause });
    for (const { fail } of this.#waiting.values()) fail(error);
    this.#waiting.clear();
  }
}
