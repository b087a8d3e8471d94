import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type DetachWords, exitCodes } from './context.ts';

const watch = {
  notice: '\nmlab: stopping. Finished work is kept; press Ctrl-C again to stop at once.\n',
  /** What has not ended by then is left as after a kill, of which nothing suffers. */
  stoppingMs: 1200,
  /** What the second says and how long that takes, where it does more than ending the process: the third ends it then. */
  second: null as { notice: string; ms: number } | null,
  /** A main thread that is not busy ends the process within this time, with the exit code for it. */
  exitingMs: 200,
};
export type InterruptWatch = typeof watch;
export type Interruption = 'listening' | 'stop' | 'second' | 'exit';

/** Time to leave what is elsewhere, or to end it. */
const detachingMs = 30_000;

const launcherLookMs = 300;
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };

/**
 * The first Ctrl-C asks to stop; the second, or a time after the first, ends the process, and with it every sandbox.
 * SIGTERM asks in the same way, and so does the end of the program that started this one in its own place.
 *
 * A thread waits for Ctrl-C, because the main thread may be busy for seconds. Nothing else of the process may listen for
 * SIGINT: the last to begin would be the only one. Before the thread listens, and where there can be none, Ctrl-C ends the
 * process at once.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  readonly #second = new AbortController();
  #watch: InterruptWatch = watch;
  #thread: Worker | undefined;
  #launcher: NodeJS.Timeout | undefined;

  /** Aborted by the first. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async listen(): Promise<void> {
    process.on('SIGTERM', this.#onOtherEnd);
    this.#launcher = watchLauncher(this.#onOtherEnd);
    const module = join(import.meta.dirname, `interrupt-thread${extname(import.meta.filename)}`);
    const thread = new Worker(module, { workerData: watch, resourceLimits, execArgv: [] });
    this.#thread = thread;
    await new Promise<void>((resolve) => {
      thread.on('message', (what: Interruption) => {
        if (what === 'listening') resolve();
        else if (what === 'stop') this.#stop();
        else if (what === 'second') this.#second.abort(new Error('cancelled from outside'));
        else exit();
      });
      thread.on('error', () => resolve());
    });
    // Not before: a listener that is added makes the process wait for the thread.
    thread.unref();
  }

  /**
   * From now on the first Ctrl-C leaves alone what goes on elsewhere.
   * @returns aborted by the second, which is to end that
   */
  detachable({ first, second }: DetachWords): AbortSignal {
    this.#watch = {
      ...{ ...watch, notice: `\nmlab: ${first}\n`, stoppingMs: detachingMs },
      second: { notice: `\nmlab: ${second}\n`, ms: detachingMs },
    };
    this.#thread?.postMessage(this.#watch);
    return this.#second.signal;
  }

  /** Leaves the next Ctrl-C to the kernel. Where one came, whatever still goes on is ended in its time. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#launcher);
    if (this.signal.aborted) return;
    process.off('SIGTERM', this.#onOtherEnd);
    await this.#thread?.terminate();
  }

  readonly #stop = (): void => this.#controller.abort(new Error('stopped from outside'));

  readonly #onOtherEnd = (): void => {
    if (this.signal.aborted) exit();
    process.stderr.write(this.#watch.notice);
    this.#stop();
    setTimeout(exit, this.#watch.stoppingMs).unref();
  };
}

function exit(): never {
  process.exit(exitCodes.interrupted);
}

/** A launcher that is killed can forward nothing: see scripts/hand-over.mjs. */
function watchLauncher(onEnd: () => void): NodeJS.Timeout | undefined {
  const launcher = Number(process.env.MLAB_LAUNCHER);
  if (launcher !== process.ppid) return undefined;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    onEnd();
  }, launcherLookMs);
  return timer.unref();
}
