import { setTimeout as sleep } from 'node:timers/promises';
import { type OutputPipe, OutputPipes } from '../sandbox/index.ts';

/** When this begins, all writers are dead; only what is left in the pipe is read. */
const drainMs = 5_000;

/** A named pipe for a grader's messages, separate from its output. */
export class MessagePipe implements AsyncDisposable {
  readonly #pipe: OutputPipe;
  readonly #closed: Promise<void>;
  #ended = false;

  private constructor(pipe: OutputPipe) {
    this.#pipe = pipe;
    this.#closed = new Promise((resolve) => pipe.reader.once('close', () => resolve()));
    pipe.reader.on('error', () => {});
  }

  /** @param folder an empty folder that only the grader gets */
  static async open(folder: string): Promise<MessagePipe> {
    return new MessagePipe(await new OutputPipes(folder).open());
  }

  /** On the host. */
  get path(): string {
    return this.#pipe.path;
  }

  listen(receive: (chunk: Buffer) => void): void {
    this.#pipe.reader.on('data', receive);
  }

  /** Resolves when everything written has been read; call it once the grader has ended. */
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
