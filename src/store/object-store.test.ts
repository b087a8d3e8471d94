import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/store/folders.ts';
import { UserError } from '../lib/errors.ts';
import { sha256, sha256OfFile } from '../lib/hash.ts';
import type { ObjectId } from '../schema/index.ts';
import { ObjectStore } from './object-store.ts';

const run = promisify(execFile);

test('every content is read by its hash, also in a new process', () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 5000 }), fc.integer({ min: 1, max: 60 }), (bytes, times) => {
      const content = Buffer.concat(Array.from({ length: times }, () => Buffer.from(bytes)));
      const id = objects.putBytes(content);
      expect(id).toBe(sha256(content));
      expect(new ObjectStore(objects.folder).get(id).equals(content)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('compressible contents are stored compressed, others unchanged', () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const text = objects.putText('loss 0.1\n'.repeat(10_000));
  const noise = objects.putBytes(randomBytes(100_000));
  expect(statSync(`${pathOf(objects, text)}.zst`).size).toBeLessThan(1_000);
  expect(statSync(pathOf(objects, noise)).size).toBe(100_000);
});

test('large files are stored and read as streams', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(join(folder.path, 'objects'));
  const contents = { noise: randomBytes(3_500_000), text: Buffer.alloc(3_500_000, 'epoch 1 ') };
  for (const [name, content] of Object.entries(contents)) {
    const path = join(folder.path, name);
    writeFileSync(path, content);
    const { id, bytes } = await objects.putFile(path);
    expect(bytes).toBe(content.length);
    expect(id).toBe(sha256(content));
    await objects.copyTo(id, join(folder.path, 'copy'));
    expect(await sha256OfFile(join(folder.path, 'copy'))).toBe(id);
    expect(objects.get(id).equals(content)).toBe(true);
  }
  expect(readdirSync(join(folder.path, 'objects', 'tmp'))).toEqual([]);
});

test('a damaged object is reported, however it is read', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const plain = objects.putText('short');
  const packed = objects.putText('long '.repeat(5_000));
  overwrite(pathOf(objects, plain), 'SHORT');
  overwrite(`${pathOf(objects, packed)}.zst`, 'no frame');
  for (const id of [plain, packed]) {
    expect(() => objects.get(id)).toThrow(new RegExp(`${id.slice(2)}.*is damaged`));
    expect(await objects.verify(id)).toContain(id.slice(2));
    await expect(objects.copyTo(id, join(folder.path, 'copy'))).rejects.toThrow('is damaged');
  }
  expect(readdirSync(folder.path)).not.toContain('copy');
});

test('a truncated compressed object is reported', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const id = objects.putText(Array.from({ length: 5_000 }, (_, line) => `line ${line}`).join('\n'));
  const path = `${pathOf(objects, id)}.zst`;
  chmodSync(path, 0o644);
  truncateSync(path, statSync(path).size - 100);
  expect(() => objects.get(id)).toThrow('is damaged');
  expect(await objects.verify(id)).toContain('is damaged');
});

test('a missing object is reported', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const id = sha256('nothing') as ObjectId;
  expect(() => objects.get(id)).toThrow(UserError);
  expect(() => objects.get(id)).toThrow(`object ${id} is missing`);
  expect(await objects.verify(id)).toContain('is missing');
});

test('an object that a power cut left empty is written again', () => {
  using folder = temporaryFolder();
  const id = new ObjectStore(folder.path).putText('content');
  overwrite(join(folder.path, id.slice(0, 2), id.slice(2)), '');
  const objects = new ObjectStore(folder.path);
  expect(objects.has(id)).toBe(false);
  objects.putText('content');
  expect(objects.getText(id)).toBe('content');
});

test('a content larger than the given limit is refused before it is decompressed', () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const id = objects.putBytes(Buffer.alloc(1_000_000));
  expect(() => objects.get(id, 10_000)).toThrow('more than 10000 bytes');
});

test('a stream gives no byte of a content that is larger than expected beyond its size, and fails', async () => {
  using folder = temporaryFolder();
  const objects = new ObjectStore(folder.path);
  const id = objects.putText('content');
  const read = async (bytes: number) => (await objects.openReadStream(id, bytes).toArray()).join('');
  expect(await read(7)).toBe('content');
  await expect(read(8)).rejects.toMatchObject({ code: 'object_corrupt' });
  const given: Buffer[] = [];
  const stream = objects.openReadStream(id, 3).on('data', (chunk: Buffer) => given.push(chunk));
  await expect(once(stream, 'end')).rejects.toMatchObject({ code: 'object_corrupt' });
  expect(Buffer.concat(given).length).toBeLessThanOrEqual(3);
});

test('several processes write the same objects at once', { timeout: 120_000 }, async () => {
  using folder = temporaryFolder();
  const writer = join(import.meta.dirname, '../../test/fixtures/store/object-writer.ts');
  const outputs = await Promise.all(
    Array.from({ length: 4 }, () => run(process.execPath, [writer, folder.path])),
  );
  const ids = outputs.map(({ stdout }) => stdout.trim().split('\n'));
  expect(new Set(ids.map((list) => list.join())).size).toBe(1);
  const objects = new ObjectStore(folder.path);
  for (const id of ids[0] ?? []) expect(await objects.verify(id as ObjectId)).toBeNull();
  expect(readdirSync(join(folder.path, 'tmp'))).toEqual([]);
});

test('temporary files of killed writers are removed after an hour', () => {
  using folder = temporaryFolder();
  const leftovers = join(folder.path, 'tmp');
  mkdirSync(leftovers);
  for (const name of ['old', 'new']) writeFileSync(join(leftovers, name), 'part');
  const past = Date.now() / 1000 - 7200;
  utimesSync(join(leftovers, 'old'), past, past);
  new ObjectStore(folder.path).putText('content');
  expect(readdirSync(leftovers)).toEqual(['new']);
  expect(readFileSync(join(leftovers, 'new'), 'utf8')).toBe('part');
});

function pathOf(objects: ObjectStore, id: ObjectId): string {
  return join(objects.folder, id.slice(0, 2), id.slice(2));
}

function overwrite(path: string, content: string): void {
  chmodSync(path, 0o644);
  writeFileSync(path, content);
}

test('a store links the objects of another store on the same file system', async () => {
  using folder = temporaryFolder();
  const [from, to] = ['from', 'to'].map((name) => new ObjectStore(join(folder.path, name)));
  if (from === undefined || to === undefined) throw new Error('there are two stores');
  for (const content of ['short', 'long '.repeat(1000)]) {
    const id = from.putText(content);
    await to.copyFrom(from, id);
    expect(new ObjectStore(to.folder).getText(id)).toBe(content);
    const places = [from, to].flatMap(({ folder: objects }) =>
      readdirSync(join(objects, id.slice(0, 2))).map((name) => join(objects, id.slice(0, 2), name)),
    );
    expect(new Set(places.map((path) => statSync(path).ino)).size).toBe(1);
  }
  expect(readdirSync(join(to.folder, 'tmp'))).toEqual([]);
});

test('a store does not copy damaged objects of another store', async () => {
  using folder = temporaryFolder();
  const [from, to] = ['from', 'to'].map((name) => new ObjectStore(join(folder.path, name)));
  if (from === undefined || to === undefined) throw new Error('there are two stores');
  const id = from.putText('sound');
  const path = join(from.folder, id.slice(0, 2), id.slice(2));
  chmodSync(path, 0o644);
  writeFileSync(path, 'other');
  await expect(to.copyFrom(from, id)).rejects.toThrow(UserError);
  expect(to.has(id)).toBe(false);
});
