import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract } from 'tar-stream';
import { UserError } from '../lib/errors.ts';
import { refusal, type UnpackTarget } from './unpack-target.ts';

/** tar, or tar.gz by its first bytes. */
export async function unpackTar(
  archive: string,
  target: UnpackTarget,
  signal: AbortSignal | null,
): Promise<void> {
  const entries = extract();
  const source = createReadStream(archive);
  const stages = isGzip(archive) ? [source, createGunzip(), entries] : [source, entries];
  const feeding = pipeline(stages, signal === null ? {} : { signal });
  // The loop below sees the same error first, or ends early; both are awaited in any case.
  feeding.catch(() => {});
  let seen = 0;
  try {
    for await (const entry of entries) {
      seen += 1;
      target.count();
      const { name, type } = entry.header;
      if (type === 'directory') {
        target.addFolder(name);
        entry.resume();
      } else if (type === 'file' || type === 'contiguous-file') {
        await target.addFile(name, bytesOf(entry), signal);
      } else throw refusal(name, `it is a ${type ?? 'special entry'}`);
    }
    await feeding;
  } finally {
    entries.destroy();
    source.destroy();
    await feeding.catch(() => {});
  }
  if (seen === 0) throw new UserError('bad_archive', 'holds no entries', 'is it a tar archive?');
}

async function* bytesOf(content: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const chunk of content) if (chunk instanceof Uint8Array) yield chunk;
}

function isGzip(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const head = Buffer.alloc(6);
    readSync(file, head, 0, 6, 0);
    if (
      head.subarray(0, 3).toString('latin1') === 'BZh' ||
      head.subarray(1, 5).toString('latin1') === '7zXZ'
    ) {
      throw new UserError('bad_archive', 'is packed with bzip2 or xz', 'only tar and tar.gz are unpacked');
    }
    return head[0] === 0x1f && head[1] === 0x8b;
  } finally {
    closeSync(file);
  }
}
