import { setTimeout as sleep } from 'node:timers/promises';
import { type OutputPipe, OutputPipes } from '../sandbox/index.ts';

/** All writers are dead when this begins; only what lies in the pipe is still read. */
const drainMs = 5_000;

/** A named pipe for a grader's messages, apart from what it prints. */
export class MessagePipe implements AsyncDisposable {
  readonly #pipe: OutputPipe;
  readonly #closed: Promise<void>;
  #ended = false;

  private constructor(pipe: OutputPipe) {
    this.#pipe = pipe;
    this.#closed = new Promise((resolve) => pipe.reader.once('close', () => resolve()));
    pipe.reader.on('error', () => {});
  }

  /** @param folder an empty folder that nobody but the grader is given */
  static async open(folder: string): Promise<MessagePipe> {
    return new MessagePipe(await new OutputPipes(folder).open());
  }

  /** On the host. */
  get path(): string {
    return this.#pipe.path;
  }

  listen(hear: (chunk: Buffer) => void): void {
    this.#pipe.reader.on('data', hear);
  }

  /** Resolves when all that was written has been heard; for when the grader has ended. */
  async end(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.#pipe.closeWriteEnd();
    await Promise.race([this.#closed, sleep(drainMs, undefined, { ref: false })]);
    this.#pipe.reader.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#pipe.reader.resume();
    await this.end();
  }
}
