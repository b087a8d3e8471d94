import { createHash, hash } from 'node:crypto';
import { createReadStream, read as readCallback, readSync } from 'node:fs';
import { promisify } from 'node:util';

const read = promisify(readCallback);
const chunkBytes = 2 ** 18;

/** SHA-256 of a text (as UTF-8) or bytes, in hex. */
export function sha256(content: string | Uint8Array): string {
  return hash('sha256', content, 'hex');
}

/** SHA-256 of a file, read as a stream, in hex. */
export async function sha256OfFile(path: string): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of createReadStream(path)) digest.update(chunk as Buffer);
  return digest.digest('hex');
}

/** SHA-256 of the first `size` bytes of an open file, in hex. */
export async function sha256OfDescriptor(
  descriptor: number,
  size: number,
  signal: AbortSignal,
): Promise<string> {
  const digest = createHash('sha256');
  const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size));
  const isSmall = size <= 4 * chunkBytes;
  for (let at = 0; at < size; ) {
    signal.throwIfAborted();
    const length = Math.min(buffer.length, size - at);
    // Most files are small: reading them asynchronously would cost more than the read itself.
    const bytesRead = isSmall
      ? readSync(descriptor, buffer, 0, length, at)
      : (await read(descriptor, buffer, 0, length, at)).bytesRead;
    if (bytesRead === 0) break;
    digest.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return digest.digest('hex');
}
