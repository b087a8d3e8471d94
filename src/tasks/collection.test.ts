import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Answer, startFolderServer } from '../../test/fakes/folder-server.ts';
import { makeTask } from '../../test/fixtures/make-task.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { Collection } from '../schema/index.ts';
import { readCollectionList } from './collection-list.ts';
import { loadTask } from './find-tasks.ts';
import { type PrepareOptions, prepareTask } from './prepare.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { findInterpreter } from './python-interpreter.ts';
import { validateTask } from './validate-task.ts';

let python: PythonEnvironment;
let noPython: string | null = null;

beforeAll(async () => {
  try {
    const { executable, basePrefix, version } = await findInterpreter({ variables: process.env });
    const packages = {};
    python = { environment: basePrefix, executable, basePrefix, version, sitePackages: basePrefix, packages };
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    noPython = error.message;
  }
});

/** Prints the list that is among the sources. */
const listing = `import argparse, shutil
parser = argparse.ArgumentParser()
parser.add_argument("--downloads")
parser.add_argument("--list")
folders = parser.parse_args()
shutil.copy(folders.downloads + "/list.jsonl", folders.list)
`;

/** One row for each picture, with its content. */
const preparing = `import sys
from pathlib import Path
pictures = sorted((Path(sys.argv[2]) / "pictures").iterdir())
rows = "".join(f"{path.name},{path.read_text()[:20]}\\n" for path in pictures)
(Path(sys.argv[4]) / "test.csv").write_text("id,size\\n" + rows)
(Path(sys.argv[6]) / "labels.csv").write_text("id\\n")
print("note: there are", len(pictures), "pictures")
`;

const timing = { attempts: 2, pauseMs: 1, pauseMaxMs: 2, stallMs: 2000 };

/** A task with the collection `pictures`, and a way to prepare it without a mirror. */
function setUp(lines: unknown[], collection: object = {}, source: object = {}) {
  const folder = temporaryFolder();
  const tasks = join(folder, 'tasks');
  const helpers = join(folder, 'python');
  mkdirSync(join(helpers, 'mlab_task'), { recursive: true });
  const cache = join(folder, 'cache');
  // The list exists already, as if it had been downloaded.
  const downloads = join(cache, 'downloads', 'reef');
  mkdirSync(downloads, { recursive: true });
  const list = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
  writeFileSync(join(downloads, 'list.jsonl'), list);
  const checked = { list: 'list.py', hosts: ['127.0.0.1'], bytes_max: 10_000, ...collection };
  const sources = [
    { file: 'pictures', collection: checked, licence: 'free', ...source },
    { file: 'list.jsonl', url: 'https://example.org/list.jsonl', licence: 'free', sha256: sha256(list) },
  ];
  const files = { 'hidden/list.py': listing, 'hidden/prepare.py': preparing };
  const root = makeTask(tasks, 'reef', { fields: { sources }, files });
  const messages: string[] = [];
  const prepare = async (more: Partial<PrepareOptions> = {}) =>
    await prepareTask(loadTask('reef', [tasks]), {
      ...{ cache, helpers, python, timing, allowUnverified: true },
      onProgress: (message) => messages.push(message),
      ...more,
    });
  return { folder, root, prepare, messages, pictures: join(downloads, 'pictures') };
}

/** Pictures 00.png, 01.png, …, and lines that list them. */
function pictures(url: string, count: number) {
  const names = Array.from({ length: count }, (_, number) => `${String(number).padStart(2, '0')}.png`);
  return names.map((file) => ({ file, urls: [`${url}/${file}`] }));
}

function contents(count: number): Record<string, Answer> {
  return Object.fromEntries(pictures('', count).map(({ file }) => [file, Buffer.from(`picture ${file}`)]));
}

describe('a collection of files', () => {
  it('is fetched several files at a time with progress, and recorded in the manifest', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer(contents(12), { delayMs: 20 });
    const it = setUp(pictures(server.url, 12), { at_once: 3 });
    const data = await it.prepare();
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8').split('\n')).toHaveLength(14);
    expect([server.requests.length, server.most()]).toEqual([12, 3]);
    expect(data.manifest.sources.map(({ file }) => file)).toEqual(['pictures', 'list.jsonl']);
    expect(data.manifest.sources[0]).toMatchObject({
      bytes: 12 * 14,
      from: 'download',
      collection: { files: 12, missing: 0 },
    });
    expect(data.verified).toBe(false);
    expect(it.messages).toContain('downloading pictures: 12 of 12 files, 0 MiB');
    expect(it.messages).toContain('there are 12 pictures');
  });

  it('has a checksum over names and contents, by which it can be verified', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer(contents(2));
    const hash = (file: string) => [file, sha256(`picture ${file}`)];
    const checksum = sha256(JSON.stringify([hash('00.png'), hash('01.png')]));
    const it = setUp(pictures(server.url, 2), {}, { sha256: checksum });
    const data = await it.prepare({ allowUnverified: false });
    expect(data.verified).toBe(true);
    // The key is known without any source.
    rmSync(join(it.folder, 'cache/downloads'), { recursive: true });
    expect((await it.prepare({ allowUnverified: false })).manifest).toEqual(data.manifest);
    server.files.set('01.png', Buffer.from('another'));
    const other = setUp(pictures(server.url, 2), {}, { sha256: checksum });
    await expect(other.prepare({ allowUnverified: false })).rejects.toMatchObject({ code: 'wrong_checksum' });
    const unknown = setUp(pictures(server.url, 2));
    await expect(unknown.prepare({ allowUnverified: false })).rejects.toMatchObject({ code: 'no_checksum' });
  });

  it('continues where it stopped: complete files are not fetched again, partial ones are', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer(contents(6));
    server.files.set('04.png', { hangAfter: Buffer.from('pict') });
    const it = setUp(pictures(server.url, 6), { at_once: 1 });
    const controller = new AbortController();
    const failing = it.prepare({
      signal: controller.signal,
      onProgress: (message) => {
        if (message.includes('4 of 6')) setTimeout(() => controller.abort(new Error('stopped by hand')), 50);
      },
    });
    await expect(failing).rejects.toThrow('stopped by hand');
    expect(readdirSync(it.pictures)).toContain('04.png.part');
    expect(existsSync(join(it.pictures, '04.png'))).toBe(false);
    expect(readdirSync(join(it.folder, 'cache/data/reef'))).toEqual([]);
    server.files.set('04.png', Buffer.from('picture 04.png'));
    server.requests.length = 0;
    const data = await it.prepare();
    expect(server.requests).toEqual(['04.png', '05.png']);
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8')).toContain('04.png,picture 04.png\n');
    server.requests.length = 0;
    expect(await it.prepare()).toEqual(data);
    expect(server.requests).toEqual([]);
  });

  it('may lack a few missing files, names them, and does not request them again', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer(contents(10));
    server.files.set('03.png', 404);
    server.files.set('05.png', Buffer.from('<!DOCTYPE html><html>moved</html>'));
    const it = setUp(pictures(server.url, 10), { missing_max: 0.25 });
    const data = await it.prepare();
    expect(data.manifest.sources[0]?.collection).toEqual({
      files: 8,
      missing: 2,
      first_missing: ['03.png', '05.png'],
    });
    expect(it.messages).toContain('pictures: 2 of 10 files are missing, such as 03.png');
    server.files.set('03.png', Buffer.from('it is back'));
    server.requests.length = 0;
    expect(await it.prepare()).toEqual(data);
    expect(server.requests).toEqual([]);
  });

  it('must not lack more than that, and requests all missing ones the next time', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer(contents(10));
    for (const file of ['03.png', '05.png', '08.png']) server.files.set(file, 404);
    const it = setUp(pictures(server.url, 10), { missing_max: 0.25, at_once: 1 });
    await expect(it.prepare()).rejects.toMatchObject({
      code: 'files_gone',
      message: expect.stringMatching(/3 of the 10 files.*at most 2.*03\.png no longer exists.*05\.png/),
    });
    server.files.set('05.png', Buffer.from('it is back'));
    expect((await it.prepare()).manifest.sources[0]?.collection?.missing).toBe(2);
  });

  it('tries a second address if the first does not have the file', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer({ 'old/a.png': 404, 'new/a.png': Buffer.from('a') });
    const it = setUp([{ file: 'a.png', urls: [`${server.url}/old/a.png`, `${server.url}/new/a.png`] }]);
    await it.prepare();
    expect(server.requests).toEqual(['old/a.png', 'new/a.png']);
  });

  it('is aborted when the server fails for one file after the other', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const failing = Object.fromEntries(pictures('', 40).map(({ file }) => [file, 503]));
    await using server = await startFolderServer(failing);
    const it = setUp(pictures(server.url, 40), { missing_max: 0.5, at_once: 1 });
    await expect(it.prepare()).rejects.toMatchObject({ code: 'server_error' });
    expect(server.requests).toHaveLength(5 * timing.attempts);
  });

  it.for<[string, object, Answer, RegExp]>([
    ['one file', { file_bytes_max: 100 }, Buffer.alloc(101), /00\.png is larger than the allowed 100 bytes/],
    [
      'one file of unknown size',
      { file_bytes_max: 100 },
      { hangAfter: Buffer.alloc(101) },
      /larger than the allowed 100/,
    ],
    [
      'all together',
      { bytes_max: 150, at_once: 1 },
      Buffer.alloc(140),
      /01\.png is larger than the allowed 10 bytes/,
    ],
  ])('is refused when %s is too large', async ([, limits, content, message], context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFolderServer({ ...contents(3), '00.png': content });
    const it = setUp(pictures(server.url, 3), limits);
    await expect(it.prepare()).rejects.toMatchObject({
      code: 'too_large',
      message: expect.stringMatching(message),
    });
    expect(readdirSync(it.pictures).filter((name) => name.includes('.part'))).toEqual([]);
  });
});

describe('a list of files', () => {
  const url = 'http://127.0.0.1/a.png';

  it.for<[string, unknown[], RegExp]>([
    ['leads upwards', [{ file: '../a.png', urls: [url] }], /line 1: .*plain file name/s],
    ['is absolute', [{ file: '/etc/passwd', urls: [url] }], /plain file name/],
    ['is a folder', [{ file: '..', urls: [url] }], /plain file name/],
    ['is hidden', [{ file: '.bashrc', urls: [url] }], /plain file name/],
    ['has a line break', [{ file: 'a\nb', urls: [url] }], /plain file name/],
    ['looks like a download under way', [{ file: 'a.PART', urls: [url] }], /download under way/],
    [
      'occurs twice except for case',
      [1, 2].map((n) => ({ file: n > 1 ? 'A.png' : 'a.png', urls: [url] })),
      /twice/,
    ],
    [
      'is on another host',
      [{ file: 'a.png', urls: ['http://169.254.169.254/'] }],
      /not one of the allowed hosts/,
    ],
    [
      'is on a host with the same prefix',
      [{ file: 'a.png', urls: ['http://127.0.0.1.evil.org/'] }],
      /not one of/,
    ],
    ['is a local file', [{ file: 'a.png', urls: ['file:///etc/passwd'] }], /not http/],
    ['comes with a password', [{ file: 'a.png', urls: ['http://me:secret@127.0.0.1/'] }], /a password/],
    ['has no address', [{ file: 'a.png', urls: [] }], /line 1/],
    ['is not JSON', ['{"file": '], /line 1: .*JSON/],
    ['is missing', [], /no files/],
    ['is one of too many', pictures('http://127.0.0.1', 9), /9 files are more than files_max \(8\)/],
  ])('is refused when a name %s', ([, lines, message]) => {
    const path = join(temporaryFolder(), 'list.jsonl');
    writeFileSync(
      path,
      lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'),
    );
    const limits = { list: 'list.py', hosts: ['127.0.0.1'], bytes_max: 1000, files_max: 8 };
    expect(() => readCollectionList(path, Collection.parse(limits))).toThrow(message);
  });

  it('needs a script that writes it', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const it = setUp([]);
    writeFileSync(join(it.root, 'hidden/list.py'), 'pass\n');
    await expect(it.prepare()).rejects.toMatchObject({ message: expect.stringContaining('wrote none') });
    writeFileSync(join(it.root, 'hidden/list.py'), 'raise SystemExit("no such column")\n');
    await expect(it.prepare()).rejects.toMatchObject({ message: expect.stringContaining('no such column') });
    rmSync(join(it.root, 'hidden/list.py'));
    expect(validateTask(it.root)).toMatchObject([{ field: 'sources.0.collection.list' }]);
  });
});

describe('a mirror of a collection', () => {
  it('provides its files; an incomplete one is accepted only if unverified data is allowed', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const it = setUp(pictures('http://127.0.0.1:9', 4), {}, { sha256: '0'.repeat(64) });
    const mirror = join(it.folder, 'mirror');
    const folder = join(mirror, 'reef', 'pictures');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(mirror, 'list.jsonl'), readFileSync(join(it.pictures, '../list.jsonl')));
    await expect(it.prepare({ mirror })).rejects.toMatchObject({ code: 'not_in_mirror' });
    writeFileSync(join(folder, '02.png'), 'picture 02.png');
    await expect(it.prepare({ mirror, allowUnverified: false })).rejects.toMatchObject({
      code: 'not_in_mirror',
      message: expect.stringContaining('lacks 3 of the 4 files of pictures: 00.png, 01.png, 03.png'),
    });
    const data = await it.prepare({ mirror });
    expect(data.manifest.sources[0]).toMatchObject({ from: 'mirror', collection: { files: 1, missing: 3 } });
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8')).toBe(
      'id,size\n02.png,picture 02.png\n',
    );
    writeFileSync(join(folder, '03.png'), 'picture 03.png');
    expect((await it.prepare({ mirror })).folder).not.toBe(data.folder);
  });
});
