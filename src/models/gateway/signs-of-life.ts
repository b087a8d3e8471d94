import type { ServerResponse } from 'node:http';
import type { DialectName } from '../../schema/index.ts';

/** How long a program gets nothing before it is told that nothing is wrong; clients give up after some minutes. */
export const defaultSilenceMs = 30_000;

/**
 * Sends keep-alive events of the dialect in long silences of a stream, but never within an event. If even the beginning
 * of the reply is overdue, this starts the stream: a later error can then only be sent as an event.
 */
export class SignsOfLife implements Disposable {
  readonly #response: ServerResponse;
  readonly #sign: string;
  readonly #timer: NodeJS.Timeout;
  #isBetweenEvents = true;

  /** @param sign null: the reply will not be a stream, and nothing is sent */
  constructor(response: ServerResponse, sign: string | null, silenceMs: number) {
    this.#response = response;
    this.#sign = sign ?? '';
    this.#timer = setInterval(() => this.#show(), silenceMs);
    if (sign === null) clearInterval(this.#timer);
  }

  /** Called with each piece of the reply that was passed on. */
  heard(piece: Buffer): void {
    this.#isBetweenEvents = /(\n\n|\r\r|\r\n\r\n)$/.test(piece.subarray(-4).toString('latin1'));
    this.#timer.refresh();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #show(): void {
    if (!this.#isBetweenEvents || this.#response.destroyed || this.#response.writableEnded) return;
    if (!this.#response.headersSent)
      this.#response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    this.#response.write(this.#sign);
  }
}

/** A JSON text as one event of a stream. */
export function eventOf(body: string): string {
  return `data: ${inOneLine(body)}\n\n`;
}

/** An error for a client that is already reading a stream. Google's read it without the form of an event. */
export function errorEvent(dialect: DialectName, body: string): string {
  return dialect === 'generate_content' ? `${inOneLine(body)}\n` : `event: error\n${eventOf(body)}`;
}

function inOneLine(body: string): string {
  const lines = body.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line !== '').join(' ');
}
