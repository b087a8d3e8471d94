import { execFileSync } from 'node:child_process';
import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { sha256 } from '../lib/hash.ts';
import { createSandbox } from './create-sandbox.ts';
import type { SandboxSpec } from './sandbox.ts';
import { makePlace, obstacleTo, type Place, run } from './test-support.ts';

const obstacle = await obstacleTo('bubblewrap');
const isRoot = process.getuid?.() === 0;
const mount = (...words: string[]) => execFileSync('mount', words, { stdio: 'ignore' });
const canMount = isRoot && succeeds(() => execFileSync('unshare', ['--mount', 'true'], { stdio: 'ignore' }));

/** Undone after each test, the last first. */
const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0).reverse()) step();
});

/** A folder below one of the system's that is gone after the test. */
function systemFolder(parent: string): string {
  const folder = mkdtempSync(join(parent, 'mlab-test-'));
  chmodSync(folder, 0o755);
  undo.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function fill(folder: string, files: Record<string, string | Uint8Array>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

const python = () => {
  const basePrefix = execFileSync('python3', [
    '-c',
    'import os, sys; print(os.path.realpath(sys.base_prefix))',
  ]);
  return basePrefix.toString().trim();
};

/** All files with this word that a process inside can read. */
async function found(spec: SandboxSpec, word: string, folders: string): Promise<string[]> {
  await using sandbox = await createSandbox('bubblewrap', spec);
  const script = `grep -rlaF '${word}' ${folders} 2> /dev/null; test -e /usr/bin/env && echo whole`;
  const lines = (await run(sandbox, script, { timeoutMs: 60_000 })).output.trim().split('\n');
  expect(lines.pop()).toBe('whole');
  return lines;
}

const suite = describe.skipIf(obstacle !== null);
const word = 'the-hidden-answers';

suite(`what a sandbox shows of the host${obstacle === null ? '' : ` (skipped: ${obstacle})`}`, () => {
  const spec = (place: Place, changes: Partial<SandboxSpec> = {}) =>
    place.spec({ mounts: [], workingDirectory: '/tmp', watch: null, ...changes });

  it.skipIf(!isRoot)('excludes what a package manager or a person puts below /usr', async () => {
    using place = makePlace();
    for (const parent of [
      '/usr/lib',
      '/usr/share',
      '/usr/local',
      '/usr/local/lib',
      '/usr/local/share',
      '/usr/src',
    ]) {
      fill(systemFolder(parent), { 'node_modules/mlagentbench/tasks/a/hidden/grade.py': word });
    }
    expect(await found(spec(place), word, '/usr/lib /usr/share /usr/local /usr/src')).toEqual([]);
  });

  it.skipIf(!isRoot)('leaves out concealed folders, also if links and hard links lead to them', async () => {
    using place = makePlace();
    const shown = systemFolder('/usr/share/zoneinfo');
    fill(shown, { 'tasks/a/hidden/grade.py': word, zone: 'shown' });
    symlinkSync(join(shown, 'tasks'), join(shown, 'link'));
    symlinkSync(join(shown, 'tasks'), join(place.root, 'by-link'));
    const concealed = [join(place.root, 'by-link')];
    expect(await found(spec(place, { concealed }), word, shown)).toEqual([]);
    expect(await found(spec(place, { concealed }), 'shown', shown)).toEqual([join(shown, 'zone')]);
  });

  it.skipIf(!canMount)('leaves out concealed folders that the host mounts a second time', async () => {
    using place = makePlace();
    chmodSync(place.root, 0o755);
    place.file('package/tasks/a/hidden/grade.py', word);
    const shown = systemFolder('/usr/share/zoneinfo');
    for (const [source, name] of [
      ['package', 'whole'],
      ['package/tasks/a', 'part'],
      ['.', 'more'],
    ] as const) {
      mkdirSync(join(shown, name));
      mount('--bind', join(place.root, source), join(shown, name));
      undo.push(() => execFileSync('umount', [join(shown, name)]));
    }
    expect(await found(spec(place, {}), word, shown)).toHaveLength(3);
    expect(await found(spec(place, { concealed: [join(place.root, 'package')] }), word, shown)).toEqual([]);
  });

  it('is refused where a concealed folder contains what a sandbox needs', async () => {
    using place = makePlace();
    await expect(createSandbox('bubblewrap', spec(place, { concealed: ['/usr'] }))).rejects.toMatchObject({
      name: 'SandboxError',
      message: expect.stringContaining('/usr must not be seen in a sandbox'),
    });
  });

  it('shows what is mounted out of a concealed folder, and nothing beside it', async () => {
    using place = makePlace();
    chmodSync(place.root, 0o755);
    place.file('data/secret.txt', word);
    place.file('data/public/train.csv', 'shown');
    const mounts = [{ source: join(place.data, 'public'), target: '/data', access: 'read' as const }];
    const concealed = [place.root, place.data];
    expect(await found(spec(place, { mounts, concealed }), 'shown', '/data')).toEqual(['/data/train.csv']);
    const inner = {
      mounts: [{ source: place.root, target: '/all', access: 'read' as const }],
      concealed: [place.data],
    };
    expect(await found(spec(place, inner), word, '/all')).toEqual([]);
  });
});

/** A prefix as conda makes them, without programs: packages, environments and other programs' data beside the library. */
function condaPrefix(place: Place, secret: Uint8Array): { environment: string; basePrefix: string } {
  const basePrefix = join(place.root, 'conda');
  const others = [
    'pkgs/scikit-learn',
    'envs/other/lib',
    'conda-meta',
    'share/data',
    'etc',
    'lib/R',
    'lib/node_modules',
  ];
  for (const folder of [...others, 'lib/python3.11/site-packages']) {
    fill(join(basePrefix, folder), { 'digits.csv.gz': secret });
  }
  const many = Array.from({ length: 40 }, (_, index) => [`lib/lib${index}.so.1`, 'library']);
  fill(basePrefix, {
    ...Object.fromEntries(many),
    'lib/digits.csv': secret,
    'lib/python3.11/os.py': 'library',
  });
  fill(basePrefix, {
    'bin/python3.11': 'library',
    'ssl/cert.pem': 'library',
    'share/zoneinfo/UTC': 'library',
  });
  const environment = join(place.root, 'venv');
  fill(environment, { 'bin/python': 'library' });
  return { environment, basePrefix };
}

const script = `
import ctypes.util, multiprocessing, sqlite3, ssl, zoneinfo, datetime
if __name__ == "__main__":
    ssl.create_default_context()
    ctypes.CDLL(ctypes.util.find_library("m"))
    print(sqlite3.connect(":memory:").execute("select 6 * 7").fetchone()[0])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(abs, [-1]))
    print(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo("Europe/Berlin")).tzname())
`;

suite('what a sandbox shows of an installation of Python', () => {
  const secret = gzipSync(Buffer.from(`${word}\n`.repeat(50)));
  const plain = gunzipSync(secret);
  const withheld = [secret, plain].map((content) => ({ bytes: content.length, sha256: sha256(content) }));

  it('is its programs and libraries, without other packages, environments and data', async () => {
    using place = makePlace();
    const prefix = condaPrefix(place, plain);
    const spec = place.spec({ python: prefix });
    expect(await found(spec, word, place.root)).toEqual([]);
    expect(await found(spec, 'library', place.root)).toHaveLength(40 + 5);
    const concealed = [join(prefix.basePrefix, 'lib/python3.11'), join(place.root, 'conda/bin')];
    await expect(createSandbox('bubblewrap', place.spec({ python: prefix, concealed }))).rejects.toThrow(
      'conda/bin',
    );
  });

  it('lets its scripts and programs of the system work', async () => {
    using place = makePlace();
    const environment = join(place.root, 'venv');
    execFileSync('python3', ['-I', '-m', 'venv', '--without-pip', environment]);
    await using sandbox = await createSandbox(
      'bubblewrap',
      place.spec({ python: { environment, basePrefix: python() } }),
    );
    writeFileSync(join(place.workspace, 'try.py'), script);
    expect((await run(sandbox, 'python try.py')).output).toBe('42\n[1]\nCEST\n');
    for (const program of [
      'perl -MList::Util -MGetopt::Long -e 1',
      'git init -q r',
      'bash -c :',
      'awk 1 try.py',
    ]) {
      expect
        .soft(await run(sandbox, `! command -v ${program.split(' ')[0]} || ${program}`), program)
        .toMatchObject({ exitCode: 0 });
    }
    const compile =
      'printf "#include <stdio.h>\nint main() { putchar(67); }" > c.c && gcc c.c -lm -o c && ./c';
    expect((await run(sandbox, `! command -v gcc > /dev/null || (${compile})`)).output).toMatch(/^C?$/);
  });

  it('hides files that are withheld by content: copies, links, hard links and compressed ones, wherever they are', async () => {
    using place = makePlace();
    const prefix = condaPrefix(place, plain);
    const packages = join(prefix.environment, 'lib/copies');
    const other = gzipSync(plain, { level: 1 });
    fill(packages, {
      'a.gz': secret,
      'deep/b.bin': secret,
      'c.csv': plain,
      'd.gz': other,
      'kept.csv': `${word}s`,
    });
    fill(prefix.basePrefix, { 'bin/e': plain, 'include/f.h': plain });
    linkSync(join(packages, 'c.csv'), join(packages, 'hard'));
    symlinkSync(join(packages, 'c.csv'), join(packages, 'soft'));
    place.file('data/copy.csv', plain.toString());
    const spec = place.spec({ python: prefix, withheld });
    const folders = `${place.root} /workspace`;
    expect(await found(spec, word, folders)).toEqual([join(packages, 'kept.csv')]);
    await using sandbox = await createSandbox('bubblewrap', spec);
    const zipped = `for f in $(find ${place.root} -name '*.gz'); do zcat $f 2> /dev/null; done; true`;
    expect((await run(sandbox, zipped)).output).toBe('');
  });
});

function succeeds(step: () => unknown): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
