import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Fault } from './attempt.ts';
import type { FromWorker, WorkerJob } from './messages.ts';
import type { FuzzTarget } from './target.ts';

export interface FuzzOptions {
  /** Per target; 0: only the kept inputs. */
  seconds: number;
  seed: number;
  signal?: AbortSignal;
  found: (target: string, fault: Fault, input: Buffer) => void;
  ended?: (target: string, result: FuzzResult) => void;
  skipped?: (target: string, why: string) => void;
}

export interface FuzzResult {
  executions: number;
  /** The number of blocks of the sources that ran. */
  covered: number;
  corpus: { content: Buffer; covered: ReadonlySet<string> }[];
}

/** No input may take longer, however busy the machine is. */
const hangMs = 30_000;
const lookMs = 250;
const heapMiB = 768;
const sharedBytes = 2 ** 21;

/** Fuzzes targets one after the other; if an input hangs one or takes all its memory, continues in another thread. */
export async function fuzzTargets(targets: readonly FuzzTarget[], options: FuzzOptions): Promise<void> {
  const left = targets.flatMap(({ name, obstacle }) => {
    const why = obstacle?.() ?? null;
    if (why === null) return [{ name, seconds: options.seconds }];
    options.skipped?.(name, why);
    return [];
  });
  for (let round = 0; left.length > 0 && options.signal?.aborted !== true; round += 1) {
    const jobs = left.map((job) => ({ ...job, seed: options.seed + round }));
    const { done, seconds } = await oneThread(jobs, options);
    left.splice(0, done);
    const [first] = left;
    // The run that ended the thread used a part of its target's time.
    if (first !== undefined) first.seconds -= seconds;
    if (first !== undefined && first.seconds <= 0) left.shift();
  }
}

async function oneThread(
  jobs: WorkerJob['targets'],
  { signal, found, ended }: FuzzOptions,
): Promise<{ done: number; seconds: number }> {
  const shared = new SharedArrayBuffer(sharedBytes);
  const counter = new Int32Array(shared, 0, 2);
  const scratch = mkdtempSync(join(tmpdir(), 'mlab-fuzz-'));
  const job: WorkerJob = { targets: jobs, scratch, shared };
  const worker = new Worker(join(import.meta.dirname, 'worker.ts'), {
    workerData: job,
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, stackSizeMb: 4 },
  });
  const over = Promise.withResolvers<Fault | null>();
  let [done, begun] = [0, performance.now()];
  worker.on('message', (message: FromWorker) => {
    if (message.kind === 'begun') begun = performance.now();
    else if (message.kind === 'found') found(message.target, message.fault, Buffer.from(message.input));
    else {
      done += 1;
      const { target, executions, covered } = message;
      const corpus = message.corpus.map((one) => ({ ...one, content: Buffer.from(one.content) }));
      ended?.(target, { executions, covered, corpus });
    }
  });
  worker.on('error', (error: Error & { code?: string }) => {
    const kind = error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? 'memory' : 'crash';
    over.resolve({ kind, signature: `${kind} of the thread`, message: error.stack ?? error.message });
  });
  worker.on('exit', () => over.resolve(null));
  const stopWatching = watch(counter, () =>
    over.resolve({ kind: 'hang', signature: 'hang', message: `it runs longer than ${hangMs / 1000} s` }),
  );
  const stop = () => over.resolve(null);
  signal?.addEventListener('abort', stop, { once: true });
  const fault = await over.promise;
  stopWatching();
  signal?.removeEventListener('abort', stop);
  await worker.terminate();
  rmSync(scratch, { recursive: true, force: true });
  const current = jobs[done]?.name;
  if (fault === null || current === undefined) return { done: jobs.length, seconds: 0 };
  found(current, fault, Buffer.from(new Uint8Array(shared, 8).slice(0, counter[1] ?? 0)));
  return { done, seconds: Math.max(1, (performance.now() - begun) / 1000) };
}

/** Reports if one input runs for too long. */
function watch(counter: Int32Array, onHang: () => void): () => void {
  let [seen, since] = [-1, performance.now()];
  const timer = setInterval(() => {
    const count = Atomics.load(counter, 0);
    if (count !== seen) [seen, since] = [count, performance.now()];
    else if (count > 0 && performance.now() - since > hangMs) onHang();
  }, lookMs);
  return () => clearInterval(timer);
}
