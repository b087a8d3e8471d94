import { createHash, randomBytes, randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  createWriteStream,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, zstdCompressSync } from 'node:zlib';
import { sha256 } from '../lib/hash.ts';
import { ObjectId } from '../schema/index.ts';
import { readChunks, readRangeSync } from './file-chunks.ts';
import {
  locateObject,
  measureObject,
  objectPath,
  openObject,
  readObject,
  verifyObject,
  verifyStoredFile,
} from './object-reader.ts';
import { packsFolder } from './packs.ts';

/** Smaller contents fit a disk block anyway. */
const compressFrom = 1024;
/** Compression must save an eighth, or it costs more at reading than it saves. */
const worthwhile = 7 / 8;
/** Contents up to this size are handled in memory and in one go. */
const smallBytes = 2 ** 20;
/** A large file whose first bytes don't shrink is stored uncompressed. */
const sampleBytes = 2 ** 18;
const rememberedIds = 50_000;
const temporaryAgeMs = 3_600_000;

/**
 * Contents by their SHA-256: uncompressed in `objects/ab/cdef…`, or compressed with Zstandard in
 * `objects/ab/cdef….zst`, or many small ones together in `objects/packs/….pack`. Any number of processes may write at
 * once: an object appears complete, by renaming, and never changes.
 */
export class ObjectStore {
  readonly folder: string;
  /** Ids known to exist, so that the hot path needs no disk access. */
  readonly #known = new Set<string>();
  /** Subfolders that this process has made or found. */
  readonly #prefixes = new Set<string>();
  #swept = false;
  #writtenBytes = 0;

  /** @param folder the `objects` folder; made at the first write. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** The same store, with a separate count of written bytes. */
  counted(): ObjectStore {
    return new ObjectStore(this.folder);
  }

  /** Bytes of new objects, as stored. */
  get writtenBytes(): number {
    return this.#writtenBytes;
  }

  /** Counts what another thread has written for this store. */
  countWritten(bytes: number): void {
    this.#writtenBytes += bytes;
  }

  /** Stores a text as UTF-8 (lone surrogates become U+FFFD). */
  putText(text: string): ObjectId {
    return this.putBytes(Buffer.from(text, 'utf8'));
  }

  /** Stores a content that is in memory. If it is stored already, the cost is the hash and at most two `stat`. */
  putBytes(content: Uint8Array): ObjectId {
    const id = idOf(content);
    if (this.has(id)) return id;
    const { stored, compressed } = storedForm(content);
    this.#write(id, stored, compressed ? '.zst' : '');
    return id;
  }

  /**
   * Stores a file of any size with little memory. A file that changes meanwhile is stored as it was read.
   * @param source path, or the descriptor of an open file (read from its start, left open)
   * @returns the id and the number of bytes read
   */
  async putFile(source: string | number, signal?: AbortSignal): Promise<{ id: ObjectId; bytes: number }> {
    if (typeof source === 'number') return await this.#putDescriptor(source, signal);
    const descriptor = openSync(source, constants.O_RDONLY);
    try {
      return await this.#putDescriptor(descriptor, signal);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Takes an object from another store: a link if both are on one file system, else a copy. Errors as `get`. */
  async copyFrom(other: ObjectStore, id: ObjectId, signal?: AbortSignal): Promise<void> {
    if (this.has(id) || (await this.#linkFrom(other, id, signal))) return;
    const path = this.temporaryPath();
    try {
      await other.copyTo(id, path, signal);
      await this.putFile(path, signal);
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Objects never change, so two stores may share one. False if linking is impossible; copying then reports why. */
  async #linkFrom(other: ObjectStore, id: ObjectId, signal?: AbortSignal): Promise<boolean> {
    const location = locateObject(other.folder, id);
    if (location === null || (await other.verify(id, signal)) !== null) return false;
    const path = this.temporaryPath();
    try {
      linkSync(location.path, path);
    } catch {
      return false;
    }
    // Of a pack, all contents come along: one link in the place of a copy of each.
    if (location.isPacked) this.placePack(path, [id]);
    else this.#place(path, id, location.compressed ? '.zst' : '');
    return true;
  }

  /**
   * Keeps an object in the form in which another store has it.
   * @param isCompressed with Zstandard
   * @throws UserError `object_corrupt` if its content does not have this hash
   */
  async putStored(
    id: ObjectId,
    isCompressed: boolean,
    stored: Readable,
    signal?: AbortSignal,
  ): Promise<void> {
    const path = this.temporaryPath();
    try {
      await pipeline(stored, createWriteStream(path, { flags: 'wx', mode: 0o444 }), withSignal(signal));
      await verifyStoredFile(path, isCompressed, id, signal);
      this.#place(path, id, isCompressed ? '.zst' : '');
    } finally {
      rmSync(path, { force: true });
    }
  }

  /** Whether an object exists (and is not empty, as a power cut can leave it). */
  has(id: ObjectId): boolean {
    if (this.#known.has(id)) return true;
    if (locateObject(this.folder, id) === null) return false;
    this.#remember(id);
    return true;
  }

  /**
   * A whole content, checked against its hash.
   * @throws UserError `object_missing`, `object_corrupt`, `object_too_large` (more than `maxBytes`)
   */
  get(id: ObjectId, maxBytes: number = 2 ** 30): Buffer {
    return readObject(this.folder, id, maxBytes);
  }

  /** As `get`, as text. */
  getText(id: ObjectId, maxBytes?: number): string {
    return this.get(id, maxBytes).toString('utf8');
  }

  /**
   * The content as a stream, which fails at its end if the hash doesn't match. Errors as `get`.
   * @param bytes what a snapshot says; the stream never gives more, and fails if the content has another size
   */
  openReadStream(id: ObjectId, bytes?: number): Readable {
    return openObject(this.folder, id, bytes);
  }

  /** Reads an object to its end, and returns its bytes. Errors as `get`. */
  async measure(id: ObjectId, signal?: AbortSignal): Promise<number> {
    return await measureObject(this.folder, id, signal);
  }

  /** Writes a content to a file. An existing file is replaced atomically, and only if the hash matches. */
  async copyTo(id: ObjectId, path: string, signal?: AbortSignal): Promise<void> {
    const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
    try {
      await pipeline(
        this.openReadStream(id),
        createWriteStream(temporary, { flags: 'wx' }),
        withSignal(signal),
      );
      renameSync(temporary, path);
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  /** Reads an object to its end. Null if it is intact, else what is wrong with it. */
  async verify(id: ObjectId, signal?: AbortSignal): Promise<string | null> {
    return await verifyObject(this.folder, id, signal);
  }

  async #putDescriptor(descriptor: number, signal?: AbortSignal): Promise<{ id: ObjectId; bytes: number }> {
    // Bytes appended from now on are left for a later snapshot, so that reading a growing file ends.
    const { size } = fstatSync(descriptor);
    if (size <= smallBytes) {
      const content = readRangeSync(descriptor, 0, size);
      return { id: this.putBytes(content), bytes: content.length };
    }
    // Hashing first avoids writing what is stored already.
    const seen = await hashChunks(descriptor, size, signal);
    return this.has(seen.id) ? seen : await this.#writeStream(descriptor, size, signal);
  }

  async #writeStream(
    descriptor: number,
    size: number,
    signal?: AbortSignal,
  ): Promise<{ id: ObjectId; bytes: number }> {
    const temporary = this.temporaryPath();
    const sample = readRangeSync(descriptor, 0, sampleBytes);
    const compress = zstdCompressSync(sample).length <= sample.length * worthwhile;
    const digest = createHash('sha256');
    let bytes = 0;
    async function* content() {
      for await (const chunk of readChunks(descriptor, size, signal)) {
        digest.update(chunk);
        bytes += chunk.length;
        yield chunk;
      }
    }
    try {
      const target = createWriteStream(temporary, { flags: 'wx', mode: 0o444 });
      if (compress) await pipeline(content, createZstdCompress(), target, withSignal(signal));
      else await pipeline(content, target, withSignal(signal));
      const id = ObjectId.parse(digest.digest('hex'));
      this.#place(temporary, id, compress ? '.zst' : '');
      return { id, bytes };
    } finally {
      rmSync(temporary, { force: true });
    }
  }

  #write(id: ObjectId, stored: Uint8Array, suffix: '' | '.zst'): void {
    const temporary = this.temporaryPath();
    try {
      const file = openSync(temporary, 'wx', 0o444);
      try {
        for (let at = 0; at < stored.length; ) at += writeSync(file, stored, at);
      } finally {
        closeSync(file);
      }
      this.#place(temporary, id, suffix);
    } catch (error) {
      rmSync(temporary, { force: true });
      throw error;
    }
  }

  /** Makes a complete pack in a temporary file part of the store. */
  placePack(temporary: string, ids: Iterable<ObjectId>): void {
    const folder = packsFolder(this.folder);
    mkdirSync(folder, { recursive: true });
    this.#writtenBytes += statSync(temporary).size;
    renameSync(temporary, join(folder, `${randomBytes(16).toString('hex')}.pack`));
    for (const id of ids) this.#remember(id);
  }

  #place(temporary: string, id: ObjectId, suffix: '' | '.zst'): void {
    const target = objectPath(this.folder, id) + suffix;
    const prefix = id.slice(0, 2);
    if (!this.#prefixes.has(prefix)) mkdirSync(dirname(target), { recursive: true });
    this.#prefixes.add(prefix);
    this.#writtenBytes += statSync(temporary).size;
    renameSync(temporary, target);
    this.#remember(id);
  }

  /** Where a file is written that will be renamed. */
  temporaryPath(): string {
    const folder = join(this.folder, 'tmp');
    if (!this.#swept) {
      mkdirSync(folder, { recursive: true });
      sweep(folder);
      this.#swept = true;
    }
    return join(folder, `${process.pid}-${randomUUID()}`);
  }

  #remember(id: string): void {
    // Forgetting all ids is cheap: each comes back with one `stat`.
    if (this.#known.size >= rememberedIds) this.#known.clear();
    this.#known.add(id);
  }
}

export function idOf(content: Uint8Array): ObjectId {
  return ObjectId.parse(sha256(content));
}

/** A content as it is stored: compressed where that is worthwhile. */
export function storedForm(content: Uint8Array): { stored: Uint8Array; compressed: boolean } {
  const smaller = content.length < compressFrom ? null : zstdCompressSync(content);
  const compressed = smaller !== null && smaller.length <= content.length * worthwhile;
  return { stored: compressed ? smaller : content, compressed };
}

async function hashChunks(
  descriptor: number,
  size: number,
  signal?: AbortSignal,
): Promise<{ id: ObjectId; bytes: number }> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of readChunks(descriptor, size, signal)) {
    digest.update(chunk);
    bytes += chunk.length;
  }
  return { id: ObjectId.parse(digest.digest('hex')), bytes };
}

/** Removes files of killed writers: those that nobody has written to for an hour. */
function sweep(folder: string): void {
  const oldest = Date.now() - temporaryAgeMs;
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const state = statSync(path, { throwIfNoEntry: false });
    if (state && state.mtimeMs < oldest) rmSync(path, { force: true });
  }
}

function withSignal(signal: AbortSignal | undefined): { signal?: AbortSignal } {
  return signal ? { signal } : {};
}
