import { closeSync, openSync, read as readCallback, readSync } from 'node:fs';
import { promisify } from 'node:util';

const read = promisify(readCallback);
const chunkBytes = 2 ** 20;

/**
 * The first `size` bytes of a file (or fewer, if it ends earlier), in chunks of 1 MiB, the last one shorter. Does not
 * move the descriptor's own position.
 */
export async function* readChunks(
  descriptor: number,
  size: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    signal?.throwIfAborted();
    const length = Math.min(chunkBytes, size - position);
    // A new buffer each time: a consumer in a pipeline may still use the one before.
    const { bytesRead, buffer } = await read(descriptor, Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** The bytes of a file from one offset up to another, or to its end. */
export async function readRange(descriptor: number, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await read(descriptor, buffer, length, buffer.length - length, from + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}

/** As `readRange`, synchronously. */
export function readRangeSync(descriptor: number, from: number, to: number): Buffer {
  const buffer = Buffer.allocUnsafe(Math.max(0, to - from));
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(descriptor, buffer, length, buffer.length - length, from + length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Opens a file of mlab's own for as long as it is read. */
export function withFile<Result>(path: string, read: (file: number) => Result): Result {
  const file = openSync(path, 'r');
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}
