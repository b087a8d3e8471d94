import { closeSync, mkdirSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { OutputKeeper } from './output.ts';

const flushAfterMs = 250;
const flushAtCharacters = 16_384;
const mostStreamedCharacters = 2 ** 20;
const mostKeptBytes = 64 * 2 ** 20;

export interface OutputSink {
  /** Gets the text as it comes, in pieces. */
  onText: ((text: string) => void) | null;
  /** Where the whole output goes when an observation can't hold it: on the host, and as the agent reads it. */
  whole: { file: string; shown: string } | null;
}

/**
 * One command's output on its way: to the observation (head and tail), to whoever watches (in pieces, soon after it
 * came), and whole to a file once it is longer than an observation. Bounded in memory and on disk.
 */
export class OutputStream {
  readonly #sink: OutputSink;
  readonly #decoder = new StringDecoder('utf8');
  readonly #keeper = new OutputKeeper();
  #unsent = '';
  #streamed = 0;
  #timer: NodeJS.Timeout | null = null;
  #file: { descriptor: number; bytes: number } | null = null;
  /** What came before the file was opened. */
  #early: string[] = [];

  constructor(sink: OutputSink) {
    this.#sink = sink;
  }

  add(chunk: Buffer): void {
    this.addText(this.#decoder.write(chunk));
  }

  addText(text: string): void {
    if (text === '') return;
    this.#keeper.add(text);
    this.#keepWhole(text);
    this.#send(text);
  }

  /** Ends the stream and returns the text as an observation shows it. */
  close(): string {
    this.addText(this.#decoder.end());
    if (this.#timer !== null) this.#flush();
    if (this.#file !== null) closeSync(this.#file.descriptor);
    return this.#keeper.shown(this.#file === null ? undefined : this.#sink.whole?.shown);
  }

  #send(text: string): void {
    if (this.#sink.onText === null || this.#streamed >= mostStreamedCharacters) return;
    this.#unsent += text;
    if (this.#unsent.length >= flushAtCharacters) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), flushAfterMs);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#unsent === '') return;
    this.#streamed += this.#unsent.length;
    this.#sink.onText?.(this.#unsent);
    this.#unsent = '';
  }

  #keepWhole(text: string): void {
    if (this.#sink.whole === null) return;
    if (this.#file === null) {
      this.#early.push(text);
      if (!this.#keeper.isCut) return;
      mkdirSync(dirname(this.#sink.whole.file), { recursive: true });
      this.#file = { descriptor: openSync(this.#sink.whole.file, 'w', 0o644), bytes: 0 };
      text = this.#early.join('');
      this.#early = [];
    }
    const room = mostKeptBytes - this.#file.bytes;
    if (room > 0) this.#file.bytes += writeSync(this.#file.descriptor, Buffer.from(text).subarray(0, room));
  }
}
