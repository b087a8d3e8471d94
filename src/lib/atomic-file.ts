import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** Replaces a file in one step: a reader, also after a power cut, sees the old content or the new, never a part. */
export function writeFileAtomically(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  const file = openSync(temporary, 'wx');
  try {
    writeSync(file, typeof content === 'string' ? Buffer.from(content) : content);
    fdatasyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
