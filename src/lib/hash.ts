import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';

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
