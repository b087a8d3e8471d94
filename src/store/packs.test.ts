import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { sha256 } from '../lib/hash.ts';
import type { ObjectId } from '../schema/index.ts';
import { ObjectBatch } from './object-batch.ts';
import { objectIds } from './object-reader.ts';
import { ObjectStore } from './object-store.ts';

import { locatePacked, PackMemory } from './packs.ts';
import { restoreSnapshot } from './restore.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

const manyFiles = 600;
/** What the kernel counts of this thread. */
const counts = '/proc/thread-self/io';

test('every content of a large batch is read by its hash in a new process, and one that is not there is missing', async () => {
  const contents = fc.array(fc.uint8Array({ maxLength: 3_000 }), { minLength: 300, maxLength: 700 });
  await fc.assert(
    fc.asyncProperty(contents, fc.uint8Array({ minLength: 3_001, maxLength: 3_001 }), async (all, other) => {
      using folder = temporaryFolder();
      const objects = new ObjectStore(join(folder.path, 'objects'));
      const ids = put(objects, all);
      const read = new ObjectStore(objects.folder);
      for (const [place, id] of ids.entries()) {
        expect(read.get(id)).toEqual(Buffer.from(all[place] ?? []));
        expect(await read.verify(id)).toBeNull();
      }
      expect(objectIds(objects.folder).sort()).toEqual([...new Set(ids)].sort());
      expect(read.has(sha256(other) as ObjectId)).toBe(false);
    }),
    { numRuns: 4 },
  );
});

test('compressible contents in a pack are compressed, and are streamed and copied like others', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const texts = Array.from({ length: manyFiles }, (_, number) => `loss of file ${number}\n`.repeat(200));
  const ids = put(
    objects,
    texts.map((text) => Buffer.from(text)),
  );
  const [pack = ''] = packsOf(objects);
  expect(statSync(pack).size).toBeLessThan(manyFiles * 300);
  const target = join(folder.path, 'copy');
  await objects.copyTo(ids.at(-1) as ObjectId, target);
  expect(readFileSync(target, 'utf8')).toBe(texts.at(-1));
});

test('a snapshot of many new files makes one pack of most of them, and the next one adds only what is new', async () => {
  using folder = temporaryFolder();
  const workspace = filled(folder.path);
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const taker = new SnapshotTaker(objects, workspace);
  const { id } = await taker.take();
  writeFileSync(join(workspace, 'new.txt'), 'new');
  await taker.take();
  expect(packsOf(objects)).toHaveLength(1);
  expect(readdirSync(join(objects.folder, 'tmp'))).toEqual([]);
  await restoreSnapshot(new ObjectStore(objects.folder), id, join(folder.path, 'restored'));
  for (const name of readdirSync(join(folder.path, 'restored')))
    expect(readFileSync(join(folder.path, 'restored', name), 'utf8')).toBe(contentOf(name));
  expect(readdirSync(join(folder.path, 'restored'))).toHaveLength(manyFiles);
});

test('an interrupted batch leaves no pack, and no temporary file', () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  {
    using batch = new ObjectBatch(objects);
    for (let number = 0; number < manyFiles; number += 1) batch.putBytes(Buffer.from(`file ${number}`));
  }
  expect(readdirSync(folder.path)).not.toContain('packs');
  expect(readdirSync(join(folder.path, 'tmp'))).toEqual([]);
  expect(objects.has(sha256(`file ${manyFiles - 1}`) as ObjectId)).toBe(false);
});

test('a content that is damaged in its pack is reported', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const ids = put(objects, noise());
  const [pack = ''] = packsOf(objects);
  chmodSync(pack, 0o644);
  const bytes = readFileSync(pack);
  bytes[0] = (bytes[0] ?? 0) ^ 1;
  writeFileSync(pack, bytes);
  const problems = await Promise.all(ids.map((id) => new ObjectStore(folder.path).verify(id)));
  expect(problems.filter((problem) => problem?.includes('is damaged'))).toHaveLength(1);
});

test('a pack that a power cut left incomplete counts as absent, and its contents are written again', () => {
  using folder = temporaryFolder();
  const contents = noise();
  put(new ObjectStore(folder.path), contents);
  const [pack = ''] = packsOf(new ObjectStore(folder.path));
  chmodSync(pack, 0o644);
  truncateSync(pack, statSync(pack).size - 1);
  const objects = new ObjectStore(folder.path);
  for (const id of put(objects, contents)) expect(objects.get(id)).toHaveLength(2_000);
});

test('a store links a pack of another store on the same file system, and then has all its contents', async () => {
  using folder = temporaryFolder();
  const from = new ObjectStore(join(folder.path, 'from'));
  const to = new ObjectStore(join(folder.path, 'to'));
  const ids = put(from, noise());
  await to.copyFrom(from, ids.at(-1) as ObjectId);
  const [one = ''] = packsOf(from);
  const [other = ''] = packsOf(to);
  expect(statSync(other).ino).toBe(statSync(one).ino);
  expect(ids.filter((id) => to.has(id)).length).toBeGreaterThan(manyFiles / 2);
});

test.skipIf(!existsSync(counts))(
  'to look for new contents takes no more reading with many packs than with one (counted by Linux only)',
  () => {
    using folder = temporaryFolder();
    const objects = new ObjectStore(folder.path);
    const wanted = Array.from({ length: 500 }, (_, number) => sha256(`wanted ${number}`) as ObjectId);
    for (let pack = 0; pack < 20; pack += 1)
      put(
        objects,
        Array.from({ length: 300 }, (_, number) => Buffer.from(`${pack} ${number}`)),
      );
    const before = reads();
    for (const id of wanted) expect(objects.has(id)).toBe(false);
    expect(packsOf(objects)).toHaveLength(20);
    expect(reads() - before).toBeLessThan(500);
  },
);

test('contents are found in packs that other processes add, and not in those that were removed', () => {
  using folder = temporaryFolder();
  const contents = noise();
  const id = sha256(contents.at(-1) ?? '') as ObjectId;
  const isThere = () => new ObjectStore(folder.path).has(id);
  for (let round = 0; round < 3; round += 1) {
    for (let look = 0; look < 5; look += 1) expect(isThere()).toBe(false);
    put(new ObjectStore(folder.path), contents);
    for (let look = 0; look < 5; look += 1) expect(isThere()).toBe(true);
    rmSync(folder.path, { recursive: true });
  }
});

test('contents are found however few can be remembered', () => {
  using folder = temporaryFolder();
  const ids = Array.from({ length: 5 }, () => put(new ObjectStore(folder.path), noise()).slice(-60)).flat();
  for (const mostRemembered of [0, 400, 1_000]) {
    const memory = new PackMemory(mostRemembered);
    for (const id of ids) {
      expect(locatePacked(folder.path, id, memory)).toMatchObject({ id });
      expect(memory.index.size).toBeLessThanOrEqual(mostRemembered);
    }
    expect(locatePacked(folder.path, sha256('other') as ObjectId, memory)).toBeNull();
  }
});

test('a large pack comes into memory bit by bit, so that no search takes long', () => {
  using folder = temporaryFolder();
  const contents = Array.from({ length: 6_000 }, (_, number) => Buffer.from(`file ${number}`));
  const ids = put(new ObjectStore(folder.path), contents);
  const memory = new PackMemory(10_000);
  const added = ids.slice(-20).map((id) => {
    const before = memory.index.size;
    expect(locatePacked(folder.path, id, memory)).toMatchObject({ id });
    return memory.index.size - before;
  });
  expect(Math.max(...added)).toBe(1_000);
  expect(added.at(-1)).toBe(0);
  for (const id of ids.slice(1_000)) expect(locatePacked(folder.path, id, memory)).toMatchObject({ id });
});

/** How often this thread has read from a file. */
function reads(): number {
  return Number(/^syscr: (\d+)$/m.exec(readFileSync(counts, 'utf8'))?.[1]);
}

function put(objects: ObjectStore, contents: readonly Uint8Array[]): ObjectId[] {
  using batch = new ObjectBatch(objects);
  const ids = contents.map((content) => batch.putBytes(content));
  batch.finish();
  return ids;
}

function noise(): Buffer[] {
  return Array.from({ length: manyFiles }, () => randomBytes(2_000));
}

function packsOf({ folder }: ObjectStore): string[] {
  return readdirSync(join(folder, 'packs')).map((name) => join(folder, 'packs', name));
}

function contentOf(name: string): string {
  return `this is ${name}`;
}

function filled(folder: string): string {
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  for (let number = 0; number < manyFiles; number += 1)
    writeFileSync(join(workspace, `${number}.txt`), contentOf(`${number}.txt`));
  return workspace;
}
