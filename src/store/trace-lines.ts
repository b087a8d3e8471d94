import { closeSync, createReadStream, fstatSync, openSync, readSync } from 'node:fs';
import { UserError } from '../lib/errors.ts';

/** `prev` of the first event. */
export const noHash = '0'.repeat(64);

const lineBreak = 0x0a;
const tailChunkBytes = 2 ** 14;
const syncChunkBytes = 2 ** 20;
/** Texts lie in objects, so a line stays far below this; what is longer was not written by mlab. */
const maxLineBytes = 2 ** 26;

/** A complete line of a trace, or a last one without its line break (`torn`). */
export interface TraceLine {
  /** From 1. */
  number: number;
  /** Without the line break. */
  bytes: Buffer;
  torn: boolean;
}

/**
 * The lines of a file, one after the other, with the memory of one line.
 * @throws UserError `broken_file` for a line of more than 64 MiB
 */
export async function* readLines(path: string, signal?: AbortSignal): AsyncGenerator<TraceLine> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  let number = 0;
  for await (const chunk of createReadStream(path, signal ? { signal } : {})) {
    const bytes = chunk as Buffer;
    let start = 0;
    for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
      yield { number: ++number, bytes: Buffer.concat([...rest, bytes.subarray(start, end)]), torn: false };
      rest = [];
      restBytes = 0;
      start = end + 1;
    }
    rest.push(bytes.subarray(start));
    restBytes += bytes.length - start;
    if (restBytes > maxLineBytes) throw lineTooLong(path, number + 1);
  }
  if (restBytes > 0) yield { number: number + 1, bytes: Buffer.concat(rest), torn: true };
}

/** The complete lines of a file as text, with the memory of one line, for those who can't wait. Errors as `readLines`. */
export function* readLinesSync(path: string): Generator<string> {
  const descriptor = openSync(path, 'r');
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let number = 1; ; ) {
      const chunk = Buffer.allocUnsafe(syncChunkBytes);
      const count = readSync(descriptor, chunk, 0, syncChunkBytes, null);
      if (count === 0) return;
      const bytes = Buffer.concat([rest, chunk.subarray(0, count)]);
      let start = 0;
      for (let end = bytes.indexOf(lineBreak); end >= 0; end = bytes.indexOf(lineBreak, start)) {
        yield bytes.toString('utf8', start, end);
        start = end + 1;
        number += 1;
      }
      rest = bytes.subarray(start);
      if (rest.length > maxLineBytes) throw lineTooLong(path, number);
    }
  } finally {
    closeSync(descriptor);
  }
}

export interface TraceTail {
  /** Bytes up to and with the last line break. */
  completeBytes: number;
  /** Bytes after it: a line that was being written when its writer died. */
  tornBytes: number;
  /** The last complete line, without its line break; null when there is none. */
  last: Buffer | null;
  /** The one before. */
  beforeLast: Buffer | null;
}

/** The end of an open file, read backwards: costs the last two lines, however long the file is. */
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
