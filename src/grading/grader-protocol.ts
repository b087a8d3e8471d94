import { randomBytes } from 'node:crypto';
import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import { messageOf } from '../lib/errors.ts';
import type { SandboxProcess } from '../sandbox/index.ts';
import { GraderResult } from '../schema/index.ts';
import type { SubmissionWorker } from './submission-worker.ts';

const Message = z.discriminatedUnion('message', [
  z.object({ message: z.literal('grading'), submission: z.string() }),
  z.object({ message: z.literal('result'), result: GraderResult }),
  z.object({
    message: z.literal('failed'),
    kind: z.string(),
    place: z.string(),
    error: z.string(),
    traceback: z.string(),
  }),
  z.object({ message: z.literal('start_worker'), submission: z.string() }),
  z.object({ message: z.literal('stop_worker'), gone: z.boolean() }),
]);
type Message = z.infer<typeof Message>;

/** An exception that a grader's score function raised. */
export interface GraderError {
  submission: string;
  /** The exception's type. Only this and the place are free of hidden data. */
  kind: string;
  /** Such as `hidden/grade.py, line 12`. */
  place: string;
  error: string;
  traceback: string;
}

const maxBytes = 64 * 2 ** 20;

export interface GraderProtocolOptions {
  process: SandboxProcess;
  worker: SubmissionWorker;
  /** Folder with the code of a submission, or of the starter. */
  folderOf: (submission: string) => string;
  /** Called when the grader begins with another submission. */
  onNext: () => void;
}

/**
 * Reads a grader's messages, keeps its results and serves its requests. Each message begins with a secret that only the
 * grader knows; anything else in the pipe is ignored.
 */
export class GraderProtocol {
  readonly results = new Map<string, GraderResult>();
  readonly errors = new Map<string, GraderError>();
  readonly #options: GraderProtocolOptions;
  readonly #secret = randomBytes(16).toString('hex');
  readonly #decoder = new StringDecoder('utf8');
  /** Parts of the current line. */
  #pending: string[] = [];
  #heard = 0;
  #current: string | null = null;
  #fault: string | null = null;
  #queue: Promise<void> = Promise.resolve();

  /** Gives the grader its secret. */
  constructor(options: GraderProtocolOptions) {
    this.#options = options;
    options.process.write(`${this.#secret}\n`);
  }

  /** The submission that the grader is working on. */
  get current(): string | null {
    return this.#current;
  }

  /** What was wrong with a message; the grader was stopped because of it. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Resolves when every request has been served. */
  settled(): Promise<void> {
    return this.#queue;
  }

  receive(chunk: Buffer): void {
    if (this.#fault !== null) return;
    this.#heard += chunk.length;
    if (this.#heard > maxBytes) {
      this.#fail(`it sent more than ${maxBytes} bytes of messages`);
      return;
    }
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n');
    this.#pending.push(first);
    for (const start of others) {
      this.#take(this.#pending.join(''));
      this.#pending = [start];
    }
  }

  #take(line: string): void {
    if (this.#fault !== null || !line.startsWith(`${this.#secret} `)) return;
    try {
      this.#handle(Message.parse(JSON.parse(line.slice(this.#secret.length))));
    } catch (error) {
      this.#fail(`it sent a message that can't be read: ${messageOf(error)}`);
    }
  }

  #handle(message: Message): void {
    switch (message.message) {
      case 'grading':
        this.#current = message.submission;
        this.#options.onNext();
        return;
      case 'result':
        this.#keep(message.result);
        return;
      case 'failed':
        this.#keepError(message);
        return;
      default:
        this.#queue = this.#queue.then(() => this.#serve(message));
    }
  }

  #keep(result: GraderResult): void {
    const { submission, valid, score, problems } = result;
    const isInconsistent = valid
      ? score === null || problems.length > 0
      : score !== null || problems.length === 0;
    if (isInconsistent) this.#fail('it gave a result that is neither a score nor a problem');
    else if (submission !== this.#current) this.#fail('it gave a result for another submission');
    else {
      this.results.set(submission, result);
      this.#current = null;
    }
  }

  #keepError({ kind, place, error, traceback }: Extract<Message, { message: 'failed' }>): void {
    const submission = this.#current;
    if (submission === null) this.#fail('it failed on no submission');
    else {
      this.errors.set(submission, { submission, kind, place, error, traceback });
      this.#current = null;
    }
  }

  async #serve(request: Extract<Message, { message: 'start_worker' | 'stop_worker' }>): Promise<void> {
    const { worker, folderOf } = this.#options;
    try {
      const ended =
        request.message === 'stop_worker'
          ? await worker.stop(request.gone)
          : await worker.start(request.submission, folderOf(request.submission));
      this.#answer({ ok: true, ended });
    } catch (error) {
      this.#answer({ ok: false, message: messageOf(error) });
    }
  }

  #answer(answer: object): void {
    this.#options.process.write(`${JSON.stringify(answer)}\n`);
  }

  #fail(fault: string): void {
    this.#fault = fault;
    void this.#options.process.kill();
  }
}
