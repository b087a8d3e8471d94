import { read as readCallback, readSync } from 'node:fs';
import { promisify } from 'node:util';

const read = promisify(readCallback);
const chunkBytes = 2 ** 20;

/**
 * The first `size` bytes of a file (or fewer, where it ends before), in chunks of 1 MiB, the last one shorter.
 * The descriptor's own position is left alone.
 */
export async function* readChunks(
  descriptor: number,
  size: number,
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  for (let position = 0; position < size; ) {
    signal?.throwIfAborted();
    const length = Math.min(chunkBytes, size - position);
    // A new buffer each time: a consumer in a pipeline may hold the one before.
    const { bytesRead, buffer } = await read(descriptor, Buffer.allocUnsafe(length), 0, length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** As `readChunks`, at once and in memory. */
export function readFully(descriptor: number, size: number): Buffer {
  const buffer = Buffer.allocUnsafe(size);
  let length = 0;
  while (length < size) {
    const count = readSync(descriptor, buffer, length, size - length, length);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}
