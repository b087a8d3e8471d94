import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { startFileServer } from '../../test/fakes/file-server.ts';
import { makeTask, type TaskOptions } from '../../test/fixtures/make-task.ts';
import { sharedData } from '../../test/fixtures/shared-data.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import { loadTask } from './find-tasks.ts';
import { checkData, loadPrepared, prepareTask } from './prepare.ts';
import type { PythonEnvironment } from './python-environment.ts';
import { findInterpreter } from './python-interpreter.ts';

let python: PythonEnvironment;
let noPython: string | null = null;

beforeAll(async () => {
  try {
    const { executable, basePrefix, version } = await findInterpreter({ variables: process.env });
    python = {
      environment: basePrefix,
      executable,
      basePrefix,
      version,
      sitePackages: basePrefix,
      packages: {},
    };
  } catch (error) {
    if (!UserError.isInstance(error)) throw error;
    noPython = error.message;
  }
});

const rows = Buffer.from('id,size,colour\n1,3,red\n2,5,blue\n');

/** Splits the source `rows.csv` with a helper of the project's package. */
const splitting = `import argparse, os, sys
from pathlib import Path

sys.path.insert(0, os.environ["MLAB_HELPERS"])
from mlab_task import keep

assert not os.listdir("."), "the working directory is not empty"
assert "SECRET" not in os.environ
parser = argparse.ArgumentParser()
for name in ("downloads", "public", "private"):
    parser.add_argument(f"--{name}", type=Path, required=True)
folders = parser.parse_args()
lines = [line.split(",") for line in (folders.downloads / "rows.csv").read_text().splitlines()]
(folders.public / "test.csv").write_text(keep(lines, 0, 1))
(folders.private / "labels.csv").write_text(keep(lines, 0, 2))
`;

function source(url: string, checksum: string | null = sha256(rows)) {
  return { file: 'rows.csv', url, licence: 'free', ...(checksum === null ? {} : { sha256: checksum }) };
}

function setUp(options: TaskOptions) {
  const folder = temporaryFolder();
  const helpers = join(folder, 'python');
  mkdirSync(join(helpers, 'mlab_task'), { recursive: true });
  const helper = 'def keep(lines, a, b):\n    return "".join(f"{line[a]},{line[b]}\\n" for line in lines)\n';
  writeFileSync(join(helpers, 'mlab_task', '__init__.py'), helper);
  const tasks = join(folder, 'tasks');
  makeTask(tasks, 'colours', options);
  const options_ = { cache: join(folder, 'cache'), helpers, allowUnverified: false };
  return { task: () => loadTask('colours', [tasks]), folder, tasks, options: options_ };
}

function splittingTask(sources: object[]): TaskOptions {
  return { fields: { sources }, files: { 'hidden/prepare.py': splitting } };
}

/** A task with one source, and a mirror that has it. */
function mirrored(content = rows, checksum: string | null = sha256(rows)) {
  const it = setUp(splittingTask([source('https://example.org/rows.csv', checksum)]));
  const mirror = join(it.folder, 'mirror');
  mkdirSync(join(mirror, 'colours'), { recursive: true });
  writeFileSync(join(mirror, 'colours', 'rows.csv'), content);
  return { ...it, mirror };
}

describe('preparing a task', () => {
  it('downloads, checks, splits and leaves read-only folders with a manifest', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFileServer({ content: rows });
    const { task, options } = setUp(splittingTask([source(`${server.url}/rows.csv`)]));
    const messages: string[] = [];
    const data = await prepareTask(task(), {
      ...options,
      python,
      variables: { SECRET: 'x' },
      onProgress: (message) => messages.push(message),
    });
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8')).toBe('id,size\n1,3\n2,5\n');
    expect(data.verified).toBe(true);
    expect(data.manifest.sources).toMatchObject([
      { file: 'rows.csv', sha256: sha256(rows), from: 'download' },
    ]);
    expect(data.manifest.files.map(({ path }) => path)).toEqual(['public/test.csv', 'private/labels.csv']);
    const mode = (path: string) => statSync(path).mode & 0o777;
    expect(mode(data.publicFolder)).toBe(0o555);
    // Root runs graders as another user: then the folder around hidden data is closed, not the data itself.
    const closed = process.getuid?.() === 0 ? data.folder : data.privateFolder;
    expect(mode(closed)).toBe(0o500);
    if (closed !== data.folder) expect(mode(join(data.privateFolder, 'labels.csv'))).toBe(0o400);
    expect(messages).toContain('preparing the data of colours');
    expect(readdirSync(join(options.cache, 'data', 'colours')).sort()).toHaveLength(1);
  });

  it('does nothing when the data exists, and does not contact the source', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored();
    expect(await loadPrepared(task(), options)).toBeNull();
    const first = await prepareTask(task(), { ...options, python, mirror });
    rmSync(mirror, { recursive: true });
    expect(await prepareTask(task(), { ...options, python, mirror })).toEqual(first);
    expect(await loadPrepared(task(), options)).toEqual(first);
  });

  it('removes unfinished data of a killed process', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored();
    const leftover = join(options.cache, 'data', 'colours', '.making-1234', 'data', 'public');
    mkdirSync(leftover, { recursive: true });
    writeFileSync(join(leftover, 'test.csv'), 'half');
    chmodSync(leftover, 0o555);
    const data = await prepareTask(task(), { ...options, python, mirror });
    const left = readdirSync(join(options.cache, 'data', 'colours')).sort();
    expect(left).toEqual([basename(data.folder)]);
  });

  it('says so when the cache belongs to somebody else', async (context) => {
    context.skip(process.getuid?.() === 0, 'root may write everywhere');
    const { task, options, mirror } = mirrored();
    mkdirSync(options.cache);
    chmodSync(options.cache, 0o555);
    const failing = prepareTask(task(), { ...options, python, mirror });
    await expect(failing).rejects.toMatchObject({ code: 'cache_not_writable' });
  });

  it('makes the data once for concurrent callers', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored();
    const all = await Promise.all([1, 2, 3].map(() => prepareTask(task(), { ...options, python, mirror })));
    expect(new Set(all.map(({ manifest }) => manifest.prepared_at)).size).toBe(1);
  });

  it('detects damage and makes the data again, and accepts an intact copy', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror, folder } = mirrored();
    const data = await prepareTask(task(), { ...options, python, mirror });
    const copy = join(folder, 'copied-cache');
    cpSync(options.cache, copy, { recursive: true });
    expect((await loadPrepared(task(), { ...options, cache: copy }))?.folder).toContain(copy);
    for (const change of [
      () => writeFileSync(join(data.publicFolder, 'test.csv'), 'id,size\n1,3\n2,6\n'),
      () => rmSync(join(data.privateFolder, 'labels.csv')),
      () => writeFileSync(join(data.publicFolder, 'extra.csv'), 'x'),
    ]) {
      for (const path of [data.folder, data.publicFolder, data.privateFolder]) chmodSync(path, 0o700);
      chmodSync(join(data.publicFolder, 'test.csv'), 0o600);
      change();
      expect(await loadPrepared(task(), options)).toBeNull();
      const again = await prepareTask(task(), { ...options, python, mirror });
      expect(readFileSync(join(again.publicFolder, 'test.csv'), 'utf8')).toBe('id,size\n1,3\n2,5\n');
    }
  });

  it('makes new data when prepare.py or the helpers change, but not when the grader does', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror, tasks } = mirrored();
    await prepareTask(task(), { ...options, python, mirror });
    writeFileSync(join(tasks, 'colours/hidden/grade.py'), 'print(1)\n');
    expect(await loadPrepared(task(), options)).not.toBeNull();
    writeFileSync(join(options.helpers, 'mlab_task/more.py'), 'x = 1\n');
    expect(await loadPrepared(task(), options)).toBeNull();
    await prepareTask(task(), { ...options, python, mirror });
    writeFileSync(join(tasks, 'colours/hidden/prepare.py'), `${splitting}\n# changed\n`);
    expect(await loadPrepared(task(), options)).toBeNull();
  });
});

describe('a mirror', () => {
  const grouped = Buffer.from('id,size,colour\n1,4,red\n2,6,blue\n');

  /** Puts the source into a group of the mirror. */
  function group(mirror: string, name: string) {
    const folder = join(mirror, name, 'colours');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'rows.csv'), grouped);
  }

  it('may have the folder of a task within one other folder of any name', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored(rows, sha256(grouped));
    rmSync(join(mirror, 'colours', 'rows.csv'));
    writeFileSync(join(mirror, 'a file'), 'x');
    group(mirror, 'a science');
    const data = await prepareTask(task(), { ...options, python, mirror });
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8')).toBe('id,size\n1,4\n2,6\n');
  });

  it("gives a task's own folder precedence over a grouped one, and searches no deeper", async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored();
    group(mirror, 'a science');
    expect((await prepareTask(task(), { ...options, python, mirror })).verified).toBe(true);

    const deeper = mirrored();
    rmSync(join(deeper.mirror, 'colours'), { recursive: true });
    group(join(deeper.mirror, 'a'), 'b');
    const preparing = prepareTask(deeper.task(), { ...deeper.options, python, mirror: deeper.mirror });
    await expect(preparing).rejects.toMatchObject({ code: 'not_in_mirror' });
  });
});

describe('the check before anything slow', () => {
  it('finds what the mirror lacks, missing checksums and missing credentials, without Python', async () => {
    const { task, options, mirror } = mirrored();
    await checkData(task(), { ...options, mirror });
    rmSync(join(mirror, 'colours'), { recursive: true });
    await expect(checkData(task(), { ...options, mirror })).rejects.toMatchObject({ code: 'not_in_mirror' });
    const unknown = mirrored(rows, null);
    const checked = checkData(unknown.task(), { ...unknown.options, mirror: unknown.mirror });
    await expect(checked).rejects.toMatchObject({ code: 'no_checksum' });
    const place = setUp(
      splittingTask([{ file: 'rows.csv', kaggle: 'colours', licence: 'free', sha256: sha256(rows) }]),
    );
    const variables = { HOME: place.folder };
    await expect(checkData(place.task(), { ...place.options, variables })).rejects.toMatchObject({
      code: 'kaggle_credentials',
    });
    await checkData(place.task(), { ...place.options, variables: { KAGGLE_API_TOKEN: 'x' } });
  });
});

describe('sources that are not verified', () => {
  const other = Buffer.from('id,size,colour\n9,9,green\n');

  it('are refused with both checksums, and accepted and marked on demand', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored(other);
    const refused = prepareTask(task(), { ...options, python, mirror });
    await expect(refused).rejects.toMatchObject({
      code: 'wrong_checksum',
      message: expect.stringMatching(new RegExp(`${sha256(other)}.*${sha256(rows)}`)),
      hint: expect.stringContaining('--allow-unverified'),
    });
    const data = await prepareTask(task(), { ...options, python, mirror, allowUnverified: true });
    expect(data.verified).toBe(false);
    expect(await loadPrepared(task(), options)).toBeNull();
    expect((await loadPrepared(task(), { ...options, allowUnverified: true }))?.verified).toBe(false);
  });

  it('are replaced by the original file once that was prepared', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored(other);
    await prepareTask(task(), { ...options, python, mirror, allowUnverified: true });
    writeFileSync(join(mirror, 'colours/rows.csv'), rows);
    await prepareTask(task(), { ...options, python, mirror });
    expect((await loadPrepared(task(), { ...options, allowUnverified: true }))?.verified).toBe(true);
  });

  it('include those for which the task has no checksum', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options, mirror } = mirrored(rows, null);
    await expect(prepareTask(task(), { ...options, python, mirror })).rejects.toMatchObject({
      code: 'no_checksum',
    });
    const data = await prepareTask(task(), { ...options, python, mirror, allowUnverified: true });
    expect(data.verified).toBe(false);
  });

  it('are kept after a download, so that accepting them needs no second download', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    await using server = await startFileServer({ content: other });
    const { task, options } = setUp(splittingTask([source(`${server.url}/rows.csv`)]));
    await expect(prepareTask(task(), { ...options, python })).rejects.toMatchObject({
      code: 'wrong_checksum',
    });
    const data = await prepareTask(task(), { ...options, python, allowUnverified: true });
    expect(data.verified).toBe(false);
    expect(server.requests).toHaveLength(1);
  });
});

describe('an optional source', () => {
  const extra = { ...source('https://example.org/extra.bin', null), file: 'extra.bin', optional: true };

  it('is left out with a message if it is not available, and the data is verified without it', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const it = setUp(splittingTask([source('https://example.org/rows.csv'), extra]));
    const mirror = join(it.folder, 'mirror');
    mkdirSync(mirror);
    writeFileSync(join(mirror, 'rows.csv'), rows);
    const messages: string[] = [];
    const options = { ...it.options, python, mirror, onProgress: (line: string) => messages.push(line) };
    const data = await prepareTask(it.task(), options);
    expect(data.verified).toBe(true);
    expect(data.manifest.sources.map(({ file }) => file)).toEqual(['rows.csv']);
    expect(messages.join('\n')).toContain('extra.bin is left out; the task works without it');
    expect((await loadPrepared(it.task(), it.options))?.folder).toBe(data.folder);
  });
});

describe('a variant', () => {
  const told = splitting.replace(
    'folders = parser.parse_args()',
    'parser.add_argument("--variant")\nfolders = parser.parse_args()\n(folders.public / "variant.txt").write_text(str(folders.variant))',
  );

  it('has separate data from the downloads and the mirror of its task', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const it = setUp({
      fields: { sources: [source('https://example.org/rows.csv')], variants: { paper: {} } },
      files: { 'hidden/prepare.py': told },
    });
    const mirror = join(it.folder, 'mirror');
    mkdirSync(join(mirror, 'colours'), { recursive: true });
    writeFileSync(join(mirror, 'colours', 'rows.csv'), rows);
    const names = [];
    for (const id of ['colours', 'colours-paper']) {
      const data = await prepareTask(loadTask(id, [it.tasks]), { ...it.options, python, mirror });
      names.push(readFileSync(join(data.publicFolder, 'variant.txt'), 'utf8'));
    }
    expect(names).toEqual(['None', 'paper']);
  });

  it('downloads a file once, also when another variant needs it at the same time', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const large = Buffer.concat([rows, Buffer.alloc(2 ** 20, '3,7,green\n')]);
    await using server = await startFileServer({ content: large });
    const it = setUp({
      fields: { sources: [source(`${server.url}/rows.csv`, sha256(large))], variants: { paper: {} } },
      files: { 'hidden/prepare.py': told },
    });
    const variants = ['colours', 'colours-paper'].map((id) => loadTask(id, [it.tasks]));
    const made = await Promise.all(
      variants.map((variant) => prepareTask(variant, { ...it.options, python })),
    );
    expect(made.map(({ verified }) => verified)).toEqual([true, true]);
    expect(server.requests).toHaveLength(1);
  });
});

describe('a failed preparation', () => {
  it('names the two places where a mirror may have the file', async () => {
    const { task, options, mirror } = mirrored();
    rmSync(join(mirror, 'colours', 'rows.csv'));
    const failing = prepareTask(task(), { ...options, python, mirror });
    await expect(failing).rejects.toMatchObject({
      code: 'not_in_mirror',
      hint: expect.stringContaining(' or at '),
    });
  });

  it.for<[string, RegExp]>([
    [
      'import sys\nprint("about to")\nsys.exit("no such column: size")',
      /exit code 1[\s\S]*about to\n {2}no such column: size/,
    ],
    ['pass', /task\.yaml:\d+ submission\.files\.0\.id\.from: public\/ has no test\.csv/],
    [
      'import sys\nopen(sys.argv[4] + "/test.csv", "w").write("ID,size\\n")',
      /without the column id; it has ID, size/,
    ],
    ['import os, sys\nos.symlink("/etc/passwd", sys.argv[4] + "/test.csv")', /a link or special file/],
  ])('when the script is %j, says why and leaves nothing behind', async ([script, message], context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options } = setUp({ files: { 'hidden/prepare.py': script } });
    await expect(prepareTask(task(), { ...options, python })).rejects.toMatchObject({
      code: 'prepare_failed',
      message: expect.stringMatching(message),
    });
    expect(readdirSync(join(options.cache, 'data', 'colours'))).toEqual([]);
  });

  it('ends at once when it is aborted, also while the script runs', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    const { task, options } = setUp({ files: { 'hidden/prepare.py': 'import time\ntime.sleep(60)\n' } });
    const controller = new AbortController();
    const onProgress = () => setTimeout(() => controller.abort(new Error('stopped by hand')), 100);
    const failing = prepareTask(task(), { ...options, python, onProgress, signal: controller.signal });
    await expect(failing).rejects.toThrow('stopped by hand');
    expect(readdirSync(join(options.cache, 'data', 'colours'))).toEqual([]);
  });
});

const shared = sharedData();

describe('a mirror of real files', () => {
  it('serves an archive that is unpacked beside itself', async (context) => {
    context.skip(noPython !== null, noPython ?? '');
    if (shared === null) return context.skip('there is no ../shared/data beside the checkout');
    const script = `import shutil, sys
shutil.copy(sys.argv[2] + "/home-data-for-ml-course/train.csv", sys.argv[4] + "/test.csv")
open(sys.argv[6] + "/labels.csv", "w").write("Id\\n")
`;
    const { task, options } = setUp({
      fields: {
        sources: [
          {
            file: 'home-data-for-ml-course.zip',
            kaggle: 'home-data-for-ml-course',
            licence: 'see Kaggle',
            unpack: 'zip',
          },
        ],
        submission: {
          description: 'prices',
          files: [
            {
              format: 'csv',
              path: 'submission.csv',
              id: { column: 'Id', from: 'test.csv' },
              columns: [{ name: 'SalePrice' }],
            },
          ],
        },
      },
      files: { 'hidden/prepare.py': script },
    });
    const mirror = join(options.cache, '..', 'flat-mirror');
    mkdirSync(mirror);
    const zip = 'home-data-for-ml-course.zip';
    copyFileSync(join(shared, 'house-price', zip), join(mirror, zip));
    const data = await prepareTask(task(), { ...options, python, mirror, allowUnverified: true });
    expect(readFileSync(join(data.publicFolder, 'test.csv'), 'utf8').trimEnd().split('\n')).toHaveLength(
      1461,
    );
  });
});
