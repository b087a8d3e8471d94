import { fstatSync, readSync } from 'node:fs';
import { UserError } from '../lib/errors.ts';
import { openTraceBytes, type TraceBytes } from './trace-bytes.ts';

/** `prev` of the first event. */
export const noHash = '0'.repeat(64);

const lineBreak = 0x0a;
const tailChunkBytes = 2 ** 14;
const chunkBytes = 2 ** 20;
/** Texts are in objects, so a line stays far below this; the writer refuses longer ones. */
export const maxLineBytes = 2 ** 26;

/** A complete line of a trace, or a last one without its line break (`torn`). */
export interface TraceLine {
  /** From 1. */
  number: number;
  /** Without the line break. */
  bytes: Buffer;
  torn: boolean;
}

/**
 * The lines of a trace in order, in the memory of one line; see `openTraceBytes`.
 * @throws UserError `broken_file`, such as for a line of more than 64 MiB; `ENOENT` if there is no trace
 */
export async function* readLines(path: string, signal?: AbortSignal): AsyncGenerator<TraceLine> {
  using bytes = openBytes(path);
  const { size } = bytes;
  const lines = new LineSplitter(path);
  for (let position = 0; position < size; position += chunkBytes) {
    signal?.throwIfAborted();
    yield* lines.add(await bytes.read(position, Math.min(size, position + chunkBytes)));
  }
  yield* lines.rest();
}

/** As `readLines`, synchronously. */
export function* readLinesSync(path: string): Generator<TraceLine> {
  using bytes = openBytes(path);
  const { size } = bytes;
  const lines = new LineSplitter(path);
  for (let position = 0; position < size; position += chunkBytes)
    yield* lines.add(bytes.readSync(position, Math.min(size, position + chunkBytes)));
  yield* lines.rest();
}

function openBytes(path: string): TraceBytes {
  const bytes = openTraceBytes(path);
  if (bytes !== null) return bytes;
  throw Object.assign(new Error(`ENOENT: no such file or directory, open '${path}'`), { code: 'ENOENT' });
}

/** Splits chunks of a file into lines. */
class LineSplitter {
  readonly #path: string;
  #rest: Buffer[] = [];
  #restBytes = 0;
  #number = 0;

  constructor(path: string) {
    this.#path = path;
  }

  *add(piece: Buffer): Generator<TraceLine> {
    let start = 0;
    for (let end = piece.indexOf(lineBreak); end >= 0; end = piece.indexOf(lineBreak, start)) {
      const bytes = Buffer.concat([...this.#rest, piece.subarray(start, end)]);
      [this.#rest, this.#restBytes] = [[], 0];
      start = end + 1;
      yield { number: ++this.#number, bytes, torn: false };
    }
    this.#rest.push(piece.subarray(start));
    this.#restBytes += piece.length - start;
    if (this.#restBytes > maxLineBytes) throw lineTooLong(this.#path, this.#number + 1);
  }

  /** A last line without its line break. */
  *rest(): Generator<TraceLine> {
    if (this.#restBytes > 0) yield { number: this.#number + 1, bytes: Buffer.concat(this.#rest), torn: true };
  }
}

export interface TraceTail {
  /** Bytes up to and including the last line break. */
  completeBytes: number;
  /** Bytes after it: a line that was being written when its writer died. */
  tornBytes: number;
  /** The last complete line, without its line break; null if there is none. */
  last: Buffer | null;
  /** The line before that. */
  beforeLast: Buffer | null;
}

/** The end of an open file, read backwards: costs only the last two lines, however long the file is. */
export function readTail(descriptor: number, path: string): TraceTail {
  const { size } = fstatSync(descriptor);
  let tail = Buffer.alloc(0);
  let breaks: number[] = [];
  for (let start = size; start > 0 && breaks.length < 3; ) {
    const length = Math.min(Math.max(tailChunkBytes, tail.length), start);
    const chunk = Buffer.alloc(length);
    start -= length;
    for (let done = 0; done < length; ) {
      const count = readSync(descriptor, chunk, done, length - done, start + done);
      if (count === 0) throw new Error(`${path} became shorter while it was read`);
      done += count;
    }
    tail = Buffer.concat([chunk, tail]);
    breaks = lastBreaks(tail);
    if (tail.length > 3 * maxLineBytes) throw lineTooLong(path, null);
  }
  const [end, middle, first] = breaks;
  if (end === undefined) return { completeBytes: 0, tornBytes: size, last: null, beforeLast: null };
  return {
    completeBytes: size - (tail.length - end - 1),
    tornBytes: tail.length - end - 1,
    last: tail.subarray((middle ?? -1) + 1, end),
    beforeLast: middle === undefined ? null : tail.subarray((first ?? -1) + 1, middle),
  };
}

/** Positions of the last three line breaks, the last one first. */
function lastBreaks(bytes: Buffer): number[] {
  const positions: number[] = [];
  let from = bytes.length;
  while (positions.length < 3 && from > 0) {
    const position = bytes.lastIndexOf(lineBreak, from - 1);
    if (position < 0) break;
    positions.push(position);
    from = position;
  }
  return positions;
}

function lineTooLong(path: string, line: number | null): UserError {
  const where = line === null ? `the end of ${path}` : `${path}, line ${line},`;
  return new UserError(
    'broken_file',
    `${where} is longer than ${maxLineBytes} bytes`,
    'Restore the file from a backup, or delete the run and start it again.',
  );
}
