import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { unpack } from '../../../src/tasks/unpack.ts';
import { defineTarget } from '../engine/target.ts';
import { hold } from './containers.ts';

/**
 * Archives are described in JSON, since a change of their bytes would mostly break a checksum and show nothing else.
 */
const Entry = z.object({
  name: z.string().catch('a'),
  content: z.string().catch(''),
  type: z.string().catch('0'),
  link: z.string().catch(''),
  mode: z.string().catch('0000644'),
  size: z.string().nullable().catch(null),
});
const Described = z.object({
  format: z.string().catch('tar'),
  gzip: z.boolean().catch(false),
  entries: z.array(Entry).catch([]),
});
type Entry = z.infer<typeof Entry>;

function seed(format: string, entries: object[], gzip = false): string {
  return JSON.stringify({ format, gzip, entries });
}

const file = { name: 'a/b.txt', content: 'text' };

export const archiveTarget = defineTarget({
  name: 'archives',
  reads: 'zip and tar archives of data sets',
  seeds: [
    seed('tar', [{ name: 'a/', type: '5' }, file]),
    seed('tar', [file, { name: 'l', type: '2', link: '../x' }], true),
    seed('tar', [{ name: 'PaxHeader', type: 'x', content: '20 path=../a\n13 size=4\n' }, file]),
    seed('tar', [{ name: '././@LongLink', type: 'L', content: `${'x/'.repeat(200)}\0` }, file]),
    seed('zip', [{ name: 'a/' }, file, { name: 'a/b.txt/c' }]),
    seed('zip', [{ ...file, mode: '0120777', content: '/etc/passwd' }]),
    Buffer.from('raw tar'),
  ],
  words: [
    '../',
    '/',
    'C:\\',
    '\\u0000',
    'con',
    'a/b.txt',
    'A/B.TXT',
    './',
    '.',
    '..',
    'x',
    'g',
    'L',
    'K',
    'S',
    '77777777777',
    '-1',
    'path=',
    'GNU.sparse.size=',
  ],
  batch: 8,
  milliseconds: () => 1_500,
  open: (folder) => ({
    async run(input) {
      const [archive, out] = [join(folder, 'archive'), join(folder, 'out')];
      rmSync(out, { recursive: true, force: true });
      const { format, content } = archiveOf(input);
      writeFileSync(archive, content);
      try {
        await unpack(archive, out, { format, maxBytes: 2 ** 20, maxEntries: 500 });
      } finally {
        const left = readdirSync(folder).filter((name) => name !== 'archive' && name !== 'out');
        hold(left.length === 0, `nothing is left beside it: ${left.join(', ')}`);
      }
      hold(existsSync(out), 'what was unpacked is there');
      for (const one of readdirSync(out, { recursive: true, withFileTypes: true }))
        hold(one.isFile() || one.isDirectory(), 'only files and folders come out');
    },
  }),
});

function archiveOf(input: Buffer): { format: 'zip' | 'tar'; content: Buffer } {
  const described = parsed(input);
  if (described === null) {
    return { format: input[0] === 0x50 ? 'zip' : 'tar', content: input };
  }
  const { format, gzip, entries } = described;
  if (format === 'zip') return { format: 'zip', content: zip(entries) };
  const content = Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)]);
  return { format: 'tar', content: gzip ? gzipSync(content) : content };
}

function parsed(input: Buffer): z.infer<typeof Described> | null {
  try {
    return Described.safeParse(JSON.parse(input.toString('utf8'))).data ?? null;
  } catch {
    return null;
  }
}

function tarEntry({ name, content, type, link, mode, size }: Entry): Buffer {
  const head = Buffer.alloc(512);
  const body = Buffer.from(content);
  head.write(name, 0, 100);
  head.write(mode, 100, 8);
  head.write(size ?? body.length.toString(8).padStart(11, '0'), 124, 12);
  head.write('14000000000', 136, 12);
  head.write(type, 156, 1);
  head.write(link, 157, 100);
  head.write('ustar\x0000', 257);
  head.fill(0x20, 148, 156);
  const sum = head.reduce((total, byte) => total + byte, 0);
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8);
  return Buffer.concat([head, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

/** Stored, not compressed, and without checks: the readers compare sizes and checksums. */
function zip(entries: readonly Entry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const { name, content, mode, size } of entries) {
    const [nameBytes, body] = [Buffer.from(name), Buffer.from(content)];
    const announced = size === null ? body.length : Number.parseInt(size, 8) >>> 0;
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(20, 4);
    local.writeUInt32LE(announced, 18);
    local.writeUInt32LE(announced, 22);
    local.writeUInt16LE(nameBytes.length % 65536, 26);
    parts.push(local, nameBytes, body);
    const central = Buffer.alloc(46);
    central.writeUInt32LE(0x02014b50, 0);
    central.writeUInt16LE(0x0314, 4);
    central.writeUInt16LE(20, 6);
    central.writeUInt32LE(announced, 20);
    central.writeUInt32LE(announced, 24);
    central.writeUInt16LE(nameBytes.length % 65536, 28);
    central.writeUInt32LE(((Number.parseInt(mode, 8) || 0) << 16) >>> 0, 38);
    central.writeUInt32LE(at, 42);
    directory.push(central, nameBytes);
    at += local.length + nameBytes.length + body.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length % 65536, 8);
  end.writeUInt16LE(entries.length % 65536, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listing, end]);
}
