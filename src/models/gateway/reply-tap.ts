import { createParser } from 'eventsource-parser';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import type { AnswerReader, ReadAnswer } from './dialects/dialect.ts';
import { writtenBytes } from './dialects/written-bytes.ts';

/** The most that is kept of a reply, for reading it whole and for the record. */
export const maxKeptBytes = 2 ** 25;

/** Reads a reply while it passes through, and keeps it. */
export class ReplyTap {
  readonly #reader: AnswerReader;
  readonly #isStream: boolean;
  readonly #decoder = new TextDecoder();
  readonly #kept: Buffer[] = [];
  #bytes = 0;
  #written = 0;
  /** Whether the protocol's last event, or one that can't be read here, has arrived. */
  #mayBeOver = false;
  #isEnding = false;
  readonly #parser = createParser({ onEvent: ({ data }) => this.#read(data), maxBufferSize: maxKeptBytes });

  constructor(reader: AnswerReader, isStream: boolean) {
    this.#reader = reader;
    this.#isStream = isStream;
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= maxKeptBytes) this.#kept.push(piece);
    if (this.#isStream) this.#feed(this.#decoder.decode(piece, { stream: true }));
  }

  get isEmpty(): boolean {
    return this.#bytes === 0;
  }

  /** Whether more arrived than is kept. */
  get isTooLong(): boolean {
    return this.#bytes > maxKeptBytes;
  }

  /** Whether a stream has said that its answer is complete. */
  get isComplete(): boolean {
    return this.#isStream && this.#reader.answer.isComplete;
  }

  /**
   * The bytes that the model wrote: in a stream everything in its events, even what no dialect reads. Nobody can see how
   * much of a reply in one piece arrived.
   */
  get writtenBytes(): number {
    if (this.#isStream) return this.#written;
    return this.#bytes === 0 ? 0 : Number.POSITIVE_INFINITY;
  }

  /** What has arrived so far. */
  get text(): string {
    return Buffer.concat(this.#kept).toString('utf8');
  }

  /** Whether a stream of which nothing more will arrive has begun an answer, but not ended it. */
  get isCutOff(): boolean {
    if (!this.#isStream || this.#mayBeOver) return false;
    const { answer, answeredBy, usage, hasEnded, error } = this.end();
    const hasBegun = answer !== null || answeredBy !== null || usage !== null;
    return hasBegun && !hasEnded && error === null && !this.#mayBeOver;
  }

  /** What was read, once nothing more will arrive. A reply in one piece is only read here. */
  end(): ReadAnswer {
    this.#isEnding = true;
    // Not every server ends its last event.
    if (this.#isStream) this.#feed(`${this.#decoder.decode()}\n\n`);
    else this.#read(this.text);
    return this.#reader.answer;
  }

  #feed(text: string): void {
    try {
      this.#parser.feed(text);
    } catch {
      // An event that is too long can't be read.
      this.#written = Number.POSITIVE_INFINITY;
      this.#mayBeOver = true;
      this.#parser.reset();
    }
  }

  #read(data: string): void {
    try {
      const value = parseShallowJson(data);
      this.#written += writtenBytes(value);
      this.#reader.add(value);
    } catch {
      // `[DONE]`, or not JSON.
      if (data !== '[DONE]') this.#written += Buffer.byteLength(data);
      this.#mayBeOver ||= !this.#isEnding || data === '[DONE]';
    }
  }
}
