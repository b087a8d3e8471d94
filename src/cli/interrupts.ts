import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type DetachWords, exitCodes } from './context.ts';

const watch = {
  notice: '\nmlab: stopping. Press Ctrl-C again to stop at once.\n',
  /** Whatever has not ended by then is killed, which does no harm: it can be resumed. */
  stoppingMs: 1200,
  /**
   * The notice and the time limit of the second Ctrl-C, if it does more than end the process; the third one then ends
   * it.
   */
  second: null as { notice: string; ms: number } | null,
  /**
   * A signal that comes again within this time was sent once: a launcher passes on what the sender may have sent to its
   * whole process group.
   */
  sameMs: 100,
  /** A main thread that is not busy ends the process within this time, with the right exit code. */
  exitingMs: 200,
};
export type InterruptWatch = typeof watch;
export type Interruption = 'listening' | 'stop' | 'second' | 'exit';

/** Time to detach from jobs elsewhere, or to cancel them. */
const detachingMs = 30_000;

const launcherLookMs = 300;
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 };

/**
 * The first Ctrl-C asks to stop. The second, or a timeout after the first, ends the process and with it every sandbox.
 * SIGTERM also asks to stop, and so do a closed terminal and the death of the launcher that started this process.
 *
 * A thread waits for Ctrl-C, because the main thread may be busy for seconds. Nothing else in the process may listen
 * for SIGINT: only the last listener would get it. Before the thread listens, and if it can't start, Ctrl-C ends the
 * process at once.
 */
export class Interrupts {
  readonly #controller = new AbortController();
  readonly #second = new AbortController();
  #watch: InterruptWatch = watch;
  #thread: Worker | undefined;
  #launcher: NodeJS.Timeout | undefined;
  #firstEnd = Number.NEGATIVE_INFINITY;

  /** Aborted by the first Ctrl-C. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async listen(): Promise<void> {
    process.on('SIGTERM', this.#onOtherEnd);
    process.on('SIGHUP', this.#onClosedTerminal);
    this.#launcher = watchLauncher(this.#onOtherEnd);
    const module = join(import.meta.dirname, `interrupt-thread${extname(import.meta.filename)}`);
    const thread = new Worker(module, { workerData: watch, resourceLimits, execArgv: [] });
    this.#thread = thread;
    await new Promise<void>((resolve) => {
      thread.on('message', (what: Interruption) => {
        if (what === 'listening') resolve();
        else if (what === 'stop') this.#stop();
        else if (what === 'second') this.#second.abort(new Error('cancelled by a second Ctrl-C'));
        else exit();
      });
      thread.on('error', () => resolve());
    });
    // Only now: adding a listener makes the process wait for the thread again.
    thread.unref();
  }

  /**
   * From now on the first Ctrl-C leaves jobs elsewhere running. With `second` null there are none, and only the notice
   * changes.
   * @returns aborted by the second, which cancels them
   */
  detachable({ first, second }: DetachWords): AbortSignal {
    const notice = `\nmlab: ${first}\n`;
    this.#watch =
      second === null
        ? { ...watch, notice }
        : {
            ...{ ...watch, notice, stoppingMs: detachingMs },
            second: { notice: `\nmlab: ${second}\n`, ms: detachingMs },
          };
    this.#thread?.postMessage(this.#watch);
    return this.#second.signal;
  }

  /** Leaves the next Ctrl-C to the kernel. If one came, whatever still runs gets its time to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#launcher);
    if (this.signal.aborted) return;
    process.off('SIGTERM', this.#onOtherEnd);
    process.off('SIGHUP', this.#onClosedTerminal);
    await this.#thread?.terminate();
  }

  /** A process without a terminal goes on, as those that `nohup` starts: Node itself forgets what that asked for. */
  readonly #onClosedTerminal = (): void => {
    if ([process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY)) this.#onOtherEnd();
  };

  readonly #stop = (): void => this.#controller.abort(new Error('stopped by Ctrl-C or SIGTERM'));

  readonly #onOtherEnd = (): void => {
    if (performance.now() - this.#firstEnd < this.#watch.sameMs) return;
    if (this.signal.aborted) exit();
    this.#firstEnd = performance.now();
    process.stderr.write(this.#watch.notice);
    this.#stop();
    setTimeout(exit, this.#watch.stoppingMs).unref();
  };
}

function exit(): never {
  process.exit(exitCodes.interrupted);
}

/** A launcher that is killed can't forward signals: see scripts/hand-over.mjs. `npx` forwards none. */
function watchLauncher(onEnd: () => void): NodeJS.Timeout | undefined {
  const launcher = process.env.npm_command === 'exec' ? process.ppid : Number(process.env.MLAB_LAUNCHER);
  if (launcher !== process.ppid) return undefined;
  const timer = setInterval(() => {
    if (process.ppid === launcher) return;
    clearInterval(timer);
    onEnd();
  }, launcherLookMs);
  return timer.unref();
}
