import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { type Entry, open, type ZipFile } from 'yauzl';
import { refusal, type UnpackTarget } from './unpack-target.ts';

const openZip = promisify<string, { lazyEntries: true; autoClose: false }, ZipFile>(open);

export async function unpackZip(
  archive: string,
  target: UnpackTarget,
  signal: AbortSignal | null,
): Promise<void> {
  const zip = await openZip(archive, { lazyEntries: true, autoClose: false });
  // An error while nobody waits for an entry would otherwise end the process.
  const failures: Error[] = [];
  zip.on('error', (error: Error) => failures.push(error));
  try {
    for (let entry = await nextEntry(zip); entry !== null; entry = await nextEntry(zip)) {
      signal?.throwIfAborted();
      target.count();
      await unpackEntry(zip, entry, target, signal);
      if (failures[0] !== undefined) throw failures[0];
    }
  } finally {
    zip.close();
  }
}

async function unpackEntry(
  zip: ZipFile,
  entry: Entry,
  target: UnpackTarget,
  signal: AbortSignal | null,
): Promise<void> {
  const name = entry.fileName;
  if (entry.isEncrypted()) throw refusal(name, 'it is encrypted');
  const kind = unixKind(entry);
  if (kind !== 'plain') throw refusal(name, `it is a ${kind}`);
  if (name.endsWith('/')) return target.addFolder(name);
  const content = await promisify<Entry, AsyncIterable<Uint8Array>>(zip.openReadStream.bind(zip))(entry);
  await target.addFile(name, checked(content, entry), signal);
}

/** Passes the content on and compares its CRC-32 with the one in the archive. */
async function* checked(content: AsyncIterable<Uint8Array>, entry: Entry): AsyncGenerator<Uint8Array> {
  let sum = 0;
  for await (const chunk of content) {
    sum = crc32(chunk, sum);
    yield chunk;
  }
  if (sum !== entry.crc32)
    throw new Error(`the content of ${JSON.stringify(entry.fileName)} is damaged (CRC)`);
}

/** The file type in the upper half of the attributes, as Unix programs write it; 0 if none was written. */
function unixKind(entry: Entry): 'plain' | 'link' | 'special file' {
  const type = (entry.externalFileAttributes >>> 16) & 0o170000;
  if (type === 0 || type === 0o100000 || type === 0o040000) return 'plain';
  return type === 0o120000 ? 'link' : 'special file';
}

/** Null after the last one. */
function nextEntry(zip: ZipFile): Promise<Entry | null> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      zip.off('entry', onEntry);
      zip.off('end', onEnd);
      zip.off('error', onError);
      finish();
    };
    const onEntry = (entry: Entry) => settle(() => resolve(entry));
    const onEnd = () => settle(() => resolve(null));
    const onError = (error: Error) => settle(() => reject(error));
    zip.once('entry', onEntry);
    zip.once('end', onEnd);
    zip.once('error', onError);
    zip.readEntry();
  });
}
