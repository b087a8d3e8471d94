import { createParser } from 'eventsource-parser';
import { parseShallowJson } from '../../lib/shallow-json.ts';
import type { AnswerReader, ReadAnswer } from './dialects/dialect.ts';

/** No more of a reply is kept, for reading it whole and for the record. */
const mostKeptBytes = 2 ** 25;

/** Reads a reply while it passes by, and keeps it. */
export class ReplyTap {
  readonly #reader: AnswerReader;
  readonly #isEvents: boolean;
  readonly #decoder = new TextDecoder();
  readonly #kept: Buffer[] = [];
  #bytes = 0;
  readonly #parser = createParser({ onEvent: ({ data }) => this.#read(data) });

  constructor(reader: AnswerReader, contentType: string | undefined) {
    this.#reader = reader;
    this.#isEvents = /^text\/event-stream\b/i.test(contentType ?? '');
  }

  add(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes <= mostKeptBytes) this.#kept.push(piece);
    if (this.#isEvents) this.#parser.feed(this.#decoder.decode(piece, { stream: true }));
  }

  /** What was read. Of a reply in one piece, nothing before it is complete. */
  end(): { answer: ReadAnswer; text: string; bytes: number } {
    const text = Buffer.concat(this.#kept).toString('utf8');
    // Not every server ends its last event.
    if (this.#isEvents) this.#parser.feed(`${this.#decoder.decode()}\n\n`);
    else this.#read(text);
    return { answer: this.#reader.answer, text, bytes: this.#bytes };
  }

  #read(data: string): void {
    try {
      this.#reader.add(parseShallowJson(data));
    } catch {
      // `[DONE]`, or no JSON: nothing to learn from it.
    }
  }
}
