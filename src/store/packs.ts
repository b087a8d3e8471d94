import { fstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ObjectId } from '../schema/index.ts';
import { readRangeSync, withFile } from './file-chunks.ts';

/** A content in a pack, as it is stored there. */
export interface PackedContent {
  id: ObjectId;
  start: number;
  bytes: number;
  compressed: boolean;
}

/**
 * Many small contents in one file, because a file system takes far longer to make 100,000 files than to write what is
 * in them: the contents, one after the other; an index of them, sorted by id; the signature; and the number of entries.
 */
interface Pack {
  path: string;
  indexAt: number;
  count: number;
}

/** Where the parts of an entry of the index begin, in bytes. The last one is 1 if the content is compressed. */
const part = { id: 0, start: 32, bytes: 38, form: 42 };
const entryBytes = 43;
const signature = Buffer.from('mlab pack 1\n');
const endBytes = signature.length + 4;
/** A folder may change for so long without showing it in its time. */
const tickMs = 50;

const listings = new Map<string, { mtimeMs: number; readAt: number; packs: Pack[] }>();

/** The folder of the packs, in the one of the objects. */
export function packsFolder(objects: string): string {
  return join(objects, 'packs');
}

/** A content in one of the packs; null if none has it. */
export function locatePacked(objects: string, id: ObjectId): (PackedContent & { path: string }) | null {
  const wanted = Buffer.from(id, 'hex');
  for (const pack of packsIn(objects)) {
    const found = withFile(pack.path, (file) => find(file, pack, wanted));
    if (found !== null) return { ...found, path: pack.path };
  }
  return null;
}

/** The ids of all contents in packs. */
export function packedIds(objects: string): ObjectId[] {
  return packsIn(objects).flatMap((pack) =>
    withFile(pack.path, (file) => {
      const places = Array.from({ length: pack.count }, (_, place) => place);
      return places.map((place) => contentOf(readEntry(file, pack, place)).id);
    }),
  );
}

/** What follows the contents in a pack. */
export function endOfPack(contents: readonly PackedContent[]): Buffer {
  const sorted = contents.toSorted((one, other) => (one.id < other.id ? -1 : 1));
  const end = Buffer.alloc(sorted.length * entryBytes + endBytes);
  for (const [place, { id, start, bytes, compressed }] of sorted.entries()) {
    const at = place * entryBytes;
    end.write(id, at + part.id, 'hex');
    end.writeUIntBE(start, at + part.start, 6);
    end.writeUInt32BE(bytes, at + part.bytes);
    end.writeUInt8(compressed ? 1 : 0, at + part.form);
  }
  signature.copy(end, sorted.length * entryBytes);
  end.writeUInt32BE(sorted.length, end.length - 4);
  return end;
}

/** Reads the index in the file: one of 100,000 entries has 4 MB, and there may be many. */
function find(file: number, pack: Pack, wanted: Buffer): PackedContent | null {
  let [low, high] = [0, pack.count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = readEntry(file, pack, middle);
    const order = wanted.compare(entry, part.id, part.start);
    if (order === 0) return contentOf(entry);
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return null;
}

function readEntry(file: number, { indexAt }: Pack, place: number): Buffer {
  const from = indexAt + place * entryBytes;
  return readRangeSync(file, from, from + entryBytes);
}

function contentOf(entry: Buffer): PackedContent {
  return {
    id: ObjectId.parse(entry.toString('hex', part.id, part.start)),
    start: entry.readUIntBE(part.start, part.bytes - part.start),
    bytes: entry.readUInt32BE(part.bytes),
    compressed: entry.readUInt8(part.form) === 1,
  };
}

/** Packs never change, and none disappears; any process may add one. */
function packsIn(objects: string): readonly Pack[] {
  const folder = packsFolder(objects);
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  const before = listings.get(folder);
  const isSettled = before !== undefined && before.readAt - before.mtimeMs > tickMs;
  if (isSettled && before.mtimeMs === stat.mtimeMs) return before.packs;
  const known = new Map(before?.packs.map((pack) => [pack.path, pack]));
  const readAt = Date.now();
  const packs = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return known.get(path) ?? readPack(path) ?? [];
  });
  listings.set(folder, { mtimeMs: stat.mtimeMs, readAt, packs });
  return packs;
}

/** Null for a file that is not a whole pack: a power cut can leave one. */
function readPack(path: string): Pack | null {
  return withFile(path, (file) => {
    const { size } = fstatSync(file);
    const end = readRangeSync(file, Math.max(0, size - endBytes), size);
    if (end.length !== endBytes || !end.subarray(0, signature.length).equals(signature)) return null;
    const count = end.readUInt32BE(signature.length);
    const indexAt = size - endBytes - count * entryBytes;
    return indexAt < 0 ? null : { path, indexAt, count };
  });
}
