import { closeSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { openFileToReaders } from '../lib/open-to-readers.ts';
import { OutputKeeper } from './output.ts';

const flushAfterMs = 250;
const flushAtCharacters = 16_384;
const maxStreamedCharacters = 2 ** 20;
const maxKeptBytes = 64 * 2 ** 20;

export interface OutputSink {
  /** Receives the text in pieces as it arrives. */
  onText: ((text: string) => void) | null;
  /**
   * Where to store the whole output if an observation can't hold it: the path on the host, and as the agent sees it;
   * `onStored` receives what was written.
   */
  whole: { file: string; shown: string; onStored: (bytes: number) => void } | null;
}

/**
 * Distributes a command's output: to the observation (head and tail), to watchers (in pieces, with little delay), and
 * in full to a file once it is longer than an observation. Bounded in memory and on disk.
 */
export class OutputStream {
  readonly #sink: OutputSink;
  readonly #decoder = new StringDecoder('utf8');
  readonly #keeper = new OutputKeeper();
  #unsent = '';
  #streamed = 0;
  #timer: NodeJS.Timeout | null = null;
  #file: { descriptor: number; bytes: number } | null = null;
  /** Output from before the file was opened. */
  #early: string[] = [];
  /** The whole output could not be written. */
  #lost = false;

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
    return this.#keeper.shown(this.#whereabouts());
  }

  #whereabouts(): string | undefined {
    if (this.#sink.whole === null || this.#file === null || this.#lost) return undefined;
    const what =
      this.#file.bytes < maxKeptBytes ? 'the whole output is' : `its first ${maxKeptBytes} bytes are`;
    return `${what} in ${this.#sink.whole.shown}`;
  }

  #send(text: string): void {
    if (this.#sink.onText === null || this.#streamed >= maxStreamedCharacters) return;
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
    if (this.#sink.whole === null || this.#lost) return;
    try {
      if (this.#file !== null) this.#writeWhole(text);
      else if (!this.#keeper.isCut) this.#early.push(text);
      else this.#openWhole(this.#sink.whole.file, text);
    } catch {
      // The disk is full: the observation then shows head and tail and names no file.
      this.#lost = true;
    }
  }

  #openWhole(file: string, text: string): void {
    mkdirSync(dirname(file), { recursive: true });
    this.#file = { descriptor: openSync(file, 'w', 0o644), bytes: 0 };
    openFileToReaders(this.#file.descriptor);
    this.#writeWhole(this.#early.join('') + text);
    this.#early = [];
  }

  #writeWhole(text: string): void {
    if (this.#file === null) return;
    const part = Buffer.from(text).subarray(0, maxKeptBytes - this.#file.bytes);
    // Not writeSync, which silently writes only a part when the disk gets full.
    writeFileSync(this.#file.descriptor, part);
    this.#file.bytes += part.length;
    this.#sink.whole?.onStored(part.length);
  }
}
