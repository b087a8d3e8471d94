import { type ChildProcess, fork } from 'node:child_process';
import { extname, join } from 'node:path';
import { compiledCodeVariables } from '../../lib/compiled-code.ts';
import { UserError } from '../../lib/errors.ts';
import { type BackgroundJob, type JobOf, Message, type Results, results } from './jobs.ts';

const schemas: { [Kind in BackgroundJob['kind']]: { parse: (value: unknown) => Results[Kind] } } = results;

/** Young garbage is freed quickly here: a larger heap for it would only waste memory. */
const littleMemory = ['--max-semi-space-size=4'];

interface Waiting {
  take: (result: unknown) => void;
  fail: (error: Error) => void;
  onProgress: (done: number, total: number) => void;
}

/**
 * Computes in a separate process, so that reading a long run blocks no page, and its memory is freed with the
 * process. The first job starts the process, which ends after a while without jobs.
 */
export class Background implements Disposable {
  readonly #hasLowPriority: boolean;
  readonly #idleMs: number;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | null = null;
  #idle: NodeJS.Timeout | null = null;
  #orders = 0;

  /** @param hasLowPriority whether the process runs with low priority */
  constructor(hasLowPriority: boolean, idleMs = 30_000) {
    this.#hasLowPriority = hasLowPriority;
    this.#idleMs = idleMs;
  }

  /** Starts the process before it is needed. */
  warmUp(): void {
    this.#process();
    if (this.#waiting.size === 0) this.#rest();
  }

  /** @throws UserError of the job; `interrupted` if the process died or was ended */
  async do<Kind extends BackgroundJob['kind']>(
    kind: Kind,
    job: JobOf<Kind>,
    onProgress: Waiting['onProgress'] = () => {},
  ): Promise<Results[Kind]> {
    const child = this.#process();
    const id = ++this.#orders;
    child.ref();
    child.channel?.ref();
    const result = await new Promise<unknown>((take, fail) => {
      this.#waiting.set(id, { take, fail, onProgress });
      child.send({ id, job: { kind, ...job } }, (error) => error && this.#settle(id)?.fail(error));
    });
    return schemas[kind].parse(result);
  }

  [Symbol.dispose](): void {
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#child?.disconnect();
    this.#child = null;
    this.#failAll();
  }

  #process(): ChildProcess {
    if (this.#idle !== null) clearTimeout(this.#idle);
    if (this.#child !== null) return this.#child;
    const module = join(import.meta.dirname, `background-process${extname(import.meta.filename)}`);
    const child = fork(module, this.#hasLowPriority ? ['low-priority'] : [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: compiledCodeVariables(),
      execArgv: [...process.execArgv, ...littleMemory],
    });
    child.on('message', (message) => this.#hear(Message.parse(message)));
    child.on('error', () => this.#lose(child));
    child.on('exit', () => this.#lose(child));
    this.#child = child;
    return child;
  }

  #hear(message: Message): void {
    if (message.kind === 'progress') {
      this.#waiting.get(message.id)?.onProgress(message.done, message.total);
      return;
    }
    const waiting = this.#settle(message.id);
    if (message.kind === 'result') waiting?.take(message.result);
    else waiting?.fail(new UserError(message.failure.code, message.failure.message, message.failure.hint));
  }

  #settle(id: number): Waiting | undefined {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#rest();
    return waiting;
  }

  /** Ends the process after a while without jobs; until then, it does not keep its parent alive. */
  #rest(): void {
    this.#child?.unref();
    this.#child?.channel?.unref();
    if (this.#idle !== null) clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#waiting.size > 0) return;
      this.#child?.disconnect();
      this.#child = null;
    }, this.#idleMs);
    this.#idle.unref();
  }

  #lose(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    this.#failAll();
  }

  #failAll(): void {
    for (const { fail } of this.#waiting.values()) {
      fail(
        new UserError('interrupted', 'This could not be computed: the process for it ended.', 'Ask again.'),
      );
    }
    this.#waiting.clear();
  }
}
