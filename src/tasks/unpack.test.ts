import { createWriteStream, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';
import { describe, expect, it } from 'vitest';
import { ZipFile } from 'yazl';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { unpack } from './unpack.ts';

type TarEntry = Partial<Header> & { name: string; content?: string | Buffer };

async function tarOf(entries: TarEntry[]): Promise<Buffer> {
  const stream = pack();
  for (const { content, ...header } of entries) stream.entry(header, content ?? '');
  stream.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks);
}

async function zipOf(entries: { name: string; content: string | Buffer; mode?: number }[]): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { name, content, mode } of entries) {
    zip.addBuffer(Buffer.from(content), name, mode === undefined ? {} : { mode });
  }
  zip.end();
  const path = join(temporaryFolder(), 'made.zip');
  await pipeline(zip.outputStream, createWriteStream(path));
  return readFileSync(path);
}

/** yazl refuses unsafe names, so they are inserted afterwards, in the header and in the directory. */
function renamed(zip: Buffer, from: string, to: string): Buffer {
  expect(from.length).toBe(to.length);
  return Buffer.from(zip.toString('latin1').replaceAll(from, to), 'latin1');
}

async function tryUnpack(
  content: Buffer,
  format: 'zip' | 'tar',
  limits: { maxBytes?: number; maxEntries?: number } = {},
) {
  const place = temporaryFolder();
  const archive = join(place, `archive.${format}`);
  const folder = join(place, 'out');
  writeFileSync(archive, content);
  try {
    return { result: await unpack(archive, folder, { format, maxBytes: 10 ** 9, ...limits }), folder, place };
  } catch (error) {
    return { error, folder, place };
  }
}

/** Nothing in the folder and nothing beside it but the archive. */
async function expectRefused(content: Buffer, format: 'zip' | 'tar', message: RegExp, limits = {}) {
  const { error, place } = await tryUnpack(content, format, limits);
  expect(error).toMatchObject({ name: 'UserError', message: expect.stringMatching(message) });
  expect(readdirSync(place)).toEqual([`archive.${format}`]);
}

const good = [
  { name: 'a/one.txt', content: 'one', mode: 0o100777 },
  { name: 'a/b/two.txt', content: 'two' },
];

describe('unpacking', () => {
  it.each(['zip', 'tar', 'tar.gz'])('a valid %s gives its files, with plain modes', async (kind) => {
    const entries = [...good, { name: './c.txt', content: '' }];
    const tar = kind === 'zip' ? null : await tarOf(entries.map((entry) => ({ ...entry, mode: 0o6777 })));
    const content = tar === null ? await zipOf(good) : kind === 'tar' ? tar : gzipSync(tar);
    const { result, folder } = await tryUnpack(content, tar === null ? 'zip' : 'tar');
    expect(result).toEqual({ files: tar === null ? 2 : 3, bytes: 6 });
    expect(readFileSync(join(folder, 'a/b/two.txt'), 'utf8')).toBe('two');
    expect(statSync(join(folder, 'a/one.txt')).mode & 0o7133).toBe(0);
  });

  it('refuses links, devices and pipes in a tar', async () => {
    for (const type of ['symlink', 'link', 'character-device', 'block-device', 'fifo'] as const) {
      const content = await tarOf([{ name: 'x', type, linkname: '/etc/passwd' }]);
      await expectRefused(content, 'tar', /"x" is refused: it is a/);
    }
  });

  it('refuses a link in a zip, whatever it points to', async () => {
    const content = await zipOf([{ name: 'x', content: 'inside.txt', mode: 0o120777 }]);
    await expectRefused(content, 'zip', /"x" is refused: it is a link/);
  });

  it.each(['../escape.txt', '/absolute.txt', 'C:/drive.txt', 'a\\..\\b.txt'])(
    'refuses the name %s in a tar and in a zip',
    async (name) => {
      await expectRefused(await tarOf([{ name: 'fine' }, { name, content: 'x' }]), 'tar', /refused/);
      const placeholder = 'n'.repeat(name.length);
      const zip = renamed(await zipOf([{ name: placeholder, content: 'x' }]), placeholder, name);
      const { error, place } = await tryUnpack(zip, 'zip');
      // The zip library turns backslashes into slashes first, and then detects the "..".
      expect(error).toMatchObject({ name: 'UserError' });
      expect(readdirSync(place)).toEqual(['archive.zip']);
    },
  );

  it('refuses a second file of the same name instead of overwriting the first', async () => {
    const twice = [
      { name: 'same.txt', content: 'first' },
      { name: './same.txt', content: 'second' },
    ];
    await expectRefused(await tarOf(twice), 'tar', /the name occurs twice/);
    const zip = renamed(
      await zipOf([
        { name: 'same1.txt', content: 'first' },
        { name: 'same2.txt', content: 'second' },
      ]),
      'same2.txt',
      'same1.txt',
    );
    await expectRefused(zip, 'zip', /the name occurs twice/);
  });

  it('refuses a folder in place of an existing file', async () => {
    const content = await tarOf([
      { name: 'a', content: 'file' },
      { name: 'a/b', content: 'below it' },
    ]);
    await expectRefused(content, 'tar', /a file is where its folder should be/);
  });

  it('stops at the size limit of the unpacked files', async () => {
    const large = Buffer.alloc(3_000_000);
    const limits = { maxBytes: 1_000_000 };
    await expectRefused(
      gzipSync(await tarOf([{ name: 'x', content: large }])),
      'tar',
      /unpacks to more than/,
      limits,
    );
    await expectRefused(await zipOf([{ name: 'x', content: large }]), 'zip', /unpacks to more than/, limits);
  });

  it('stops at a compression ratio that no real data has', async () => {
    const large = Buffer.alloc(100 * 2 ** 20);
    await expectRefused(await zipOf([{ name: 'x', content: large }]), 'zip', /times its size/);
  });

  it('stops at the limit of entries, which include folders', async () => {
    const entries = Array.from({ length: 20 }, (_, index) => ({
      name: `d${index}/`,
      type: 'directory' as const,
    }));
    await expectRefused(await tarOf(entries), 'tar', /more than 10 entries/, { maxEntries: 10 });
  });

  it('detects damage: a truncated file, a changed byte, another format', async () => {
    const tar = await tarOf([{ name: 'x', content: Buffer.alloc(50_000, 'abc') }]);
    await expectRefused(tar.subarray(0, 20_000), 'tar', /can't be unpacked/);
    await expectRefused(gzipSync(tar).subarray(0, 100), 'tar', /can't be unpacked/);
    await expectRefused(Buffer.from('BZh91AY&SY'), 'tar', /bzip2/);
    await expectRefused(Buffer.from('not a zip at all, only some text'), 'zip', /can't be unpacked/);
    const zip = await zipOf([{ name: 'x', content: 'some words' }]);
    await expectRefused(zip.subarray(0, -30), 'zip', /can't be unpacked/);
    const stored = await zipOf([{ name: 'x', content: 'some words, words and words again and again' }]);
    const damaged = Buffer.from(stored);
    damaged.writeUInt32LE(1, damaged.readUInt32LE(damaged.length - 6) + 16);
    await expectRefused(damaged, 'zip', /CRC|can't be unpacked/);
  });

  it('ends with the reason when it is aborted, and leaves nothing', async () => {
    const place = temporaryFolder();
    writeFileSync(join(place, 'a.tar'), await tarOf([{ name: 'x', content: 'x' }]));
    const signal = AbortSignal.abort(new Error('stopped by hand'));
    const options = { format: 'tar', maxBytes: 100, signal } as const;
    await expect(unpack(join(place, 'a.tar'), join(place, 'out'), options)).rejects.toThrow(
      'stopped by hand',
    );
    expect(existsSync(join(place, 'out'))).toBe(false);
  });
});
