import { createHash } from 'node:crypto';
import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createZstdDecompress, zstdDecompressSync } from 'node:zlib';
import { hasCode, messageOf, UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { ObjectId } from '../schema/index.ts';
import { readRangeSync, withFile } from './file-chunks.ts';
import { locatePacked, packedIds } from './packs.ts';

const emptyId = sha256('');

interface StoredFile {
  path: string;
  compressed: boolean;
}

interface Location extends StoredFile {
  /** In the file, as stored. */
  start: number;
  bytes: number;
  /** The file has other objects, too. */
  isPacked: boolean;
}

/** The path of an uncompressed object; compressed ones have `.zst` added. */
export function objectPath(folder: string, id: ObjectId): string {
  return join(folder, id.slice(0, 2), id.slice(2));
}

/** The place of an object; null if it does not exist, or is empty though its content is not. */
export function locateObject(folder: string, id: ObjectId): Location | null {
  const path = objectPath(folder, id);
  const whole = { start: 0, isPacked: false };
  const plain = statSync(path, { throwIfNoEntry: false });
  if (plain && (plain.size > 0 || id === emptyId))
    return { path, compressed: false, bytes: plain.size, ...whole };
  const smaller = statSync(`${path}.zst`, { throwIfNoEntry: false });
  if (smaller && smaller.size > 0)
    return { path: `${path}.zst`, compressed: true, bytes: smaller.size, ...whole };
  const packed = locatePacked(folder, id);
  return packed === null ? null : { ...packed, isPacked: true };
}

/** All objects in a folder. */
export function objectIds(folder: string): ObjectId[] {
  if (!existsSync(folder)) return [];
  const alone = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((path) => {
    const id = ObjectId.safeParse(path.replace(/^(..)\/(.{62})(\.zst)?$/, '$1$2'));
    return id.success ? [id.data] : [];
  });
  return [...new Set([...alone, ...packedIds(folder)])];
}

/** The bytes of an object as they are stored. */
export function readStored({ path, start, bytes }: Location): Buffer {
  return withFile(path, (file) => readRangeSync(file, start, start + bytes));
}

/** A whole object, verified. */
export function readObject(folder: string, id: ObjectId, maxBytes: number): Buffer {
  const location = locate(folder, id);
  if (!location.compressed && location.bytes > maxBytes) throw tooLarge(location.path, maxBytes);
  const stored = readStored(location);
  const content = location.compressed ? decompress(stored, location.path, maxBytes) : stored;
  if (sha256(content) !== id) throw corrupt(location.path, 'its content does not have the hash in its name');
  return content;
}

/**
 * An object as a stream that fails at its end if the content does not have the hash in its name.
 * @param bytes what others expect; the stream never gives more, and fails if the content has another size
 */
export function openObject(folder: string, id: ObjectId, bytes?: number): Readable {
  const location = locate(folder, id);
  return Readable.from(checkedChunks(location, id, bytes), { objectMode: false });
}

/** Reads an object to its end, and returns its bytes. Errors as `readObject`. */
export async function measureObject(folder: string, id: ObjectId, signal?: AbortSignal): Promise<number> {
  let bytes = 0;
  for await (const chunk of checkedChunks(locate(folder, id), id)) {
    signal?.throwIfAborted();
    bytes += chunk.length;
  }
  return bytes;
}

/** Null if the object exists and is intact, else what is wrong. */
export async function verifyObject(
  folder: string,
  id: ObjectId,
  signal?: AbortSignal,
): Promise<string | null> {
  try {
    await measureObject(folder, id, signal);
    return null;
  } catch (error) {
    if (UserError.isInstance(error)) return error.message;
    throw error;
  }
}

/** As `verifyObject`, for a file that is no object yet. @throws UserError `object_corrupt` */
export async function verifyStoredFile(
  path: string,
  compressed: boolean,
  id: ObjectId,
  signal?: AbortSignal,
): Promise<void> {
  for await (const _ of checkedChunks({ path, compressed }, id)) signal?.throwIfAborted();
}

async function* checkedChunks(location: StoredFile, id: ObjectId, expected?: number): AsyncGenerator<Buffer> {
  const digest = createHash('sha256');
  let left = expected ?? Number.POSITIVE_INFINITY;
  for await (const chunk of storedChunks(location)) {
    left -= chunk.length;
    if (left < 0) break;
    digest.update(chunk);
    yield chunk;
  }
  if (expected !== undefined && left !== 0)
    throw corrupt(location.path, `its content does not have the expected ${expected} bytes`);
  if (digest.digest('hex') !== id) {
    throw corrupt(location.path, 'its content does not have the hash in its name');
  }
}

async function* storedChunks(location: StoredFile | Location): AsyncGenerator<Buffer> {
  const isPart = 'isPacked' in location && location.isPacked;
  const part = isPart ? { start: location.start, end: location.start + location.bytes - 1 } : {};
  const file = createReadStream(location.path, { ...part, highWaterMark: 2 ** 18 });
  // `pipeline` passes errors of the file to the last stream; reading that one throws them.
  const source = location.compressed ? pipeline(file, createZstdDecompress(), () => {}) : file;
  try {
    for await (const chunk of source) yield chunk as Buffer;
  } catch (error) {
    if (location.compressed && isZstdError(error)) throw corrupt(location.path, messageOf(error), error);
    throw error;
  } finally {
    file.destroy();
  }
}

function decompress(stored: Buffer, path: string, maxBytes: number): Buffer {
  try {
    return zstdDecompressSync(stored, { maxOutputLength: Math.max(maxBytes, 1) });
  } catch (error) {
    if (hasCode(error, 'ERR_BUFFER_TOO_LARGE')) throw tooLarge(path, maxBytes);
    throw corrupt(path, messageOf(error), error);
  }
}

function isZstdError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(ZSTD_|Z_)/.test(String(error.code));
}

function locate(folder: string, id: ObjectId): Location {
  const location = locateObject(folder, id);
  if (location) return location;
  throw new UserError(
    'object_missing',
    `object ${id} is missing in ${folder}`,
    'Copy the experiment folder with all of its objects, or start the run again.',
  );
}

function corrupt(path: string, reason: string, cause?: unknown): UserError {
  return new UserError(
    'object_corrupt',
    `object ${path} is damaged: ${reason}`,
    'Restore the file from a backup, or delete it and start the run again.',
    { cause },
  );
}

function tooLarge(path: string, maxBytes: number): UserError {
  return new UserError(
    'object_too_large',
    `object ${path} has more than ${maxBytes} bytes`,
    'Copy it to a file instead of reading it whole.',
  );
}
