import { StringDecoder } from 'node:string_decoder';
import { z } from 'zod';
import type { SandboxProcess } from '../sandbox/index.ts';
import type { SubmissionWorker } from './submission-worker.ts';

const Request = z.discriminatedUnion('request', [
  z.object({ request: z.literal('start_worker'), submission: z.string() }),
  z.object({ request: z.literal('stop_worker') }),
]);

const mostOutput = 64 * 2 ** 20;

/** Listens to the grader's lines and does what it asks for. */
export class GraderProtocol {
  readonly #worker: SubmissionWorker;
  readonly #folderOf: (name: string) => string;
  #process: SandboxProcess | null = null;
  readonly #decoder = new StringDecoder('utf8');
  /** Parts of the line under way. */
  #pending: string[] = [];
  #heard = 0;
  #lastLine = '';
  #lastObject = '';
  #queue: Promise<void> = Promise.resolve();

  constructor(worker: SubmissionWorker, folderOf: (name: string) => string) {
    this.#worker = worker;
    this.#folderOf = folderOf;
  }

  attach(process: SandboxProcess): void {
    this.#process = process;
  }

  /** The last line that looks like a JSON object and asks for nothing; what else is printed after it does not count. */
  get lastObject(): string {
    return this.#lastObject;
  }

  get tail(): string {
    return this.#lastLine.slice(-2000);
  }

  /** Ends the listening; resolves when every request was served. */
  async settled(): Promise<void> {
    this.#take(this.#pending.join('') + this.#decoder.end());
    this.#pending = [];
    await this.#queue;
  }

  hear(chunk: Buffer): void {
    this.#heard += chunk.length;
    if (this.#heard > mostOutput) return;
    const [first = '', ...others] = this.#decoder.write(chunk).split('\n');
    this.#pending.push(first);
    for (const start of others) {
      this.#take(this.#pending.join(''));
      this.#pending = [start];
    }
  }

  #take(line: string): void {
    if (line.trim() === '') return;
    this.#lastLine = line;
    const request = requestIn(line);
    if (request !== null) this.#queue = this.#queue.then(() => this.#serve(request));
    else if (line.startsWith('{')) this.#lastObject = line;
  }

  async #serve(request: z.infer<typeof Request>): Promise<void> {
    try {
      if (request.request === 'stop_worker') await this.#worker.stop();
      else await this.#worker.start(request.submission, this.#folderOf(request.submission));
      this.#answer({ ok: true });
    } catch (error) {
      this.#answer({ ok: false, message: error instanceof Error ? error.message : String(error) });
    }
  }

  #answer(answer: object): void {
    this.#process?.write(`${JSON.stringify(answer)}\n`);
  }
}

function requestIn(line: string): z.infer<typeof Request> | null {
  if (!line.startsWith('{"request"')) return null;
  try {
    return Request.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
