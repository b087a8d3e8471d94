import { fstatSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hasCode } from '../lib/errors.ts';
import { ObjectId } from '../schema/index.ts';
import { readRangeSync, withFile } from './file-chunks.ts';
import { PackIndex } from './pack-index.ts';

/** A content in a pack, as it is stored there. */
export interface PackedContent {
  id: ObjectId;
  start: number;
  bytes: number;
  compressed: boolean;
}

interface Located extends PackedContent {
  path: string;
}

/**
 * Many small contents in one file, because a file system takes far longer to make 100,000 files than to write what is
 * in them: the contents, one after the other; an index of them, sorted by id; the signature; and the number of entries.
 */
interface Pack {
  folder: string;
  path: string;
  indexAt: number;
  count: number;
  /** So many of its entries, the first ones, are in memory. */
  remembered: number;
}

/** The packs of a folder, as it was at a time. */
interface Listing {
  mtimeMs: number;
  readAt: number;
  packs: Pack[];
  notRemembered: Pack[];
}

/** Where the parts of an entry of the index begin, in bytes. The last one is 1 if the content is compressed. */
const part = { id: 0, start: 32, bytes: 38, form: 42 };
const entryBytes = 43;
const signature = Buffer.from('mlab pack 1\n');
const endBytes = signature.length + 4;
/** A folder may change for so long without showing it in its time. */
const tickMs = 50;

/**
 * Reading so many entries costs about as much as searching the index once in the file. Reading all at once would stop
 * all runs of a process, for 60 ms with a pack of 100,000.
 */
const entriesPerSearch = 1_000;
const entriesAtOnce = 2 ** 14;

/** What this thread knows about packs. */
export class PackMemory {
  readonly mostRemembered: number;
  listings = new Map<string, Listing>();
  index = new PackIndex<Pack>();

  constructor(mostRemembered: number) {
    this.mostRemembered = mostRemembered;
  }

  /** Everything comes back when it is needed. */
  forget(): void {
    this.listings = new Map();
    this.index = new PackIndex();
  }
}

/** 64 MiB. */
const shared = new PackMemory(2 ** 22);

/** The folder of the packs, in the one of the objects. */
export function packsFolder(objects: string): string {
  return join(objects, 'packs');
}

/** A content in one of the packs; null if none has it. */
export function locatePacked(objects: string, id: ObjectId, memory = shared): Located | null {
  const wanted = Buffer.from(id, 'hex');
  const folder = packsFolder(objects);
  const listing = listingOf(folder, memory);
  if (listing === null) return null;
  for (const pack of memory.index.packsWith(wanted.readUInt32BE())) {
    const found = pack.folder === folder ? search(pack, wanted) : null;
    if (found !== null) return found;
  }
  let found: Located | null = null;
  const searched: Pack[] = [];
  for (const pack of listing.notRemembered) {
    searched.push(pack);
    found = search(pack, wanted);
    if (found !== null) break;
  }
  rememberMore(searched, listing, memory);
  return found;
}

/** The ids of all contents in packs. */
export function packedIds(objects: string): ObjectId[] {
  const packs = listingOf(packsFolder(objects), shared)?.packs ?? [];
  return packs.flatMap((pack) =>
    withFile(pack.path, (file) => [...entriesOf(file, pack)].map((entry) => contentOf(entry).id)),
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

/**
 * Keeps the prefixes of more entries of packs in memory after each search in their files: a process that looks for few
 * contents reads little, and one that looks for many soon searches in memory.
 */
function rememberMore(searched: readonly Pack[], listing: Listing, memory: PackMemory): void {
  for (const pack of searched.filter(({ count }) => count <= memory.mostRemembered)) {
    const places = Math.min(entriesPerSearch, pack.count - pack.remembered);
    if (memory.index.size + places > memory.mostRemembered) {
      memory.forget();
      return;
    }
    const entries = withPack(pack, (file) => readEntries(file, pack, pack.remembered, places));
    if (entries !== null) memory.index.add(pack, prefixesOf(entries));
    pack.remembered += places;
  }
  listing.notRemembered = listing.packs.filter(({ count, remembered }) => remembered < count);
}

function search(pack: Pack, wanted: Buffer): Located | null {
  const found = withPack(pack, (file) => find(file, pack, wanted));
  return found && { ...found, path: pack.path };
}

/** Null if the pack was removed with its experiment. */
function withPack<Result>(pack: Pack, read: (file: number) => Result): Result | null {
  try {
    return withFile(pack.path, read);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

function find(file: number, pack: Pack, wanted: Buffer): PackedContent | null {
  let [low, high] = [0, pack.count];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = readEntries(file, pack, middle, 1);
    const order = wanted.compare(entry, part.id, part.start);
    if (order === 0) return contentOf(entry);
    if (order < 0) high = middle;
    else low = middle + 1;
  }
  return null;
}

function* entriesOf(file: number, pack: Pack): Generator<Buffer> {
  for (let first = 0; first < pack.count; first += entriesAtOnce) {
    const bytes = readEntries(file, pack, first, Math.min(entriesAtOnce, pack.count - first));
    for (let at = 0; at < bytes.length; at += entryBytes) yield bytes.subarray(at, at + entryBytes);
  }
}

function prefixesOf(entries: Buffer): Uint32Array {
  return Uint32Array.from({ length: entries.length / entryBytes }, (_, place) =>
    entries.readUInt32BE(place * entryBytes + part.id),
  );
}

function readEntries(file: number, { indexAt }: Pack, first: number, places: number): Buffer {
  const from = indexAt + first * entryBytes;
  return readRangeSync(file, from, from + places * entryBytes);
}

function contentOf(entry: Buffer): PackedContent {
  return {
    id: ObjectId.parse(entry.toString('hex', part.id, part.start)),
    start: entry.readUIntBE(part.start, part.bytes - part.start),
    bytes: entry.readUInt32BE(part.bytes),
    compressed: entry.readUInt8(part.form) === 1,
  };
}

/** Packs never change, and none disappears alone; any process may add one. Null if there is no folder. */
function listingOf(folder: string, { listings }: PackMemory): Listing | null {
  const stat = statSync(folder, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  const before = listings.get(folder);
  const isSettled = before !== undefined && before.readAt - before.mtimeMs > tickMs;
  if (isSettled && before.mtimeMs === stat.mtimeMs) return before;
  const known = new Map(before?.packs.map((pack) => [pack.path, pack]));
  const readAt = Date.now();
  const packs = readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return known.get(path) ?? readPack(folder, path) ?? [];
  });
  const notRemembered = packs.filter(({ count, remembered }) => remembered < count);
  const listing = { mtimeMs: stat.mtimeMs, readAt, packs, notRemembered };
  listings.set(folder, listing);
  return listing;
}

/** Null for a file that is not a whole pack: a power cut can leave one. */
function readPack(folder: string, path: string): Pack | null {
  return withFile(path, (file) => {
    const { size } = fstatSync(file);
    const end = readRangeSync(file, Math.max(0, size - endBytes), size);
    if (end.length !== endBytes || !end.subarray(0, signature.length).equals(signature)) return null;
    const count = end.readUInt32BE(signature.length);
    const indexAt = size - endBytes - count * entryBytes;
    return indexAt < 0 ? null : { folder, path, indexAt, count, remembered: 0 };
  });
}
