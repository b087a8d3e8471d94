import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { isWithin } from './paths.ts';
import { partsOf, type Shown } from './shown-parts.ts';
import { pythonPrefix, topFolders } from './system-rules.ts';

/** Of a tree of empty files, those that are shown. */
function shownOf(files: readonly string[], shown: Shown | 'all'): string[] {
  const root = temporaryFolder();
  for (const path of files) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
  }
  const { mounts, covers } = partsOf(root, shown);
  expect([...mounts, ...covers].map((path) => existsSync(path))).not.toContain(false);
  return files.filter((path) => {
    const seen = (places: string[]) => places.some((place) => isWithin(place, join(root, path)));
    return seen(mounts) && !seen(covers);
  });
}

const usr = topFolders['/usr'] ?? 'all';
const library = topFolders['/lib'] ?? 'all';
const secrets = [
  ...[
    'src/linux/a',
    'share/x/hidden',
    'share/doc/a',
    'lib/node_modules/mlagentbench/tasks/a/hidden/grade.py',
  ],
  ...['lib/R/library/datasets/data', 'lib/python3/dist-packages/sklearn/digits.csv.gz', 'lib/labels.csv'],
  ...['local/lib/node_modules/a/b', 'local/share/a', 'local/src/a', 'local/labels.csv', 'games/a', 'etc/a'],
  ...[
    'lib/python3.12/site-packages/sklearn/digits.csv.gz',
    'local/lib/python3.12/dist-packages/a',
    'labels.csv',
  ],
  ...['libexec/docker/a', 'lib64/firefox/omni.ja', 'lib64/labels.csv', 'lib64/python3.12/site-packages/a.py'],
];

describe('the shown parts of a system are what scripts need', () => {
  it.each([
    [
      'Debian',
      [
        'lib/x86_64-linux-gnu/libc.so.6',
        'lib/gcc/x86_64-linux-gnu/12/cc1',
        'lib/git-core/git',
        'local/bin/x',
      ],
    ],
    [
      'Fedora',
      [
        'lib64/libc.so.6',
        'lib64/crt1.o',
        'lib64/gconv/a.so',
        'libexec/gcc/cc1',
        'libexec/git-core/git',
        'lib64/perl5/a.pm',
      ],
    ],
    [
      'Alpine',
      [
        'lib/libstdc++.so.6',
        'lib/crt1.o',
        'x86_64-alpine-linux-musl/bin/ld',
        'libexec/git-core/git',
        'share/git-core/a',
      ],
    ],
    [
      'an image of Python',
      ['local/lib/libpython3.12.so.1.0', 'local/bin/python3.12', 'bin/env', 'include/stdio.h'],
    ],
  ])('on %s', (_, needed) => {
    const always = ['share/zoneinfo/UTC', 'share/fonts/a.ttf', 'share/terminfo/x', 'lib/python3.12/os.py'];
    const many = Array.from({ length: 60 }, (_, index) => `lib64/lib${index}.so.1`);
    expect(shownOf([...secrets, ...always, ...needed, ...many], usr)).toEqual([
      ...always,
      ...needed,
      ...many,
    ]);
  });

  it('also where /lib is not a link', () => {
    const needed = ['ld-musl-x86_64.so.1', 'libc.musl-x86_64.so.1'];
    expect(shownOf([...needed, 'apk/db/installed', 'modules/a', 'firmware/b'], library)).toEqual(needed);
  });

  it('and, of a Python installation, its programs, libraries and standard library', () => {
    const needed = [
      'bin/python3.12',
      'lib/libssl.so.3',
      'lib/python3.12/os.py',
      'ssl/cert.pem',
      'include/a.h',
    ];
    const many = Array.from({ length: 60 }, (_, index) => `lib/lib${index}.so`);
    const rest = [
      'pkgs/a/b',
      'envs/a/b',
      'conda-meta/a',
      'share/a',
      'lib/cmake/a',
      'lib/a.csv',
      'etc/a',
      'a.csv',
    ];
    const packages = ['lib/python3.12/site-packages/a.py', 'lib/python3.11/site-packages/b.py'];
    const all = [...needed, ...many, ...rest, ...packages];
    expect(shownOf(all, pythonPrefix)).toEqual([...needed, ...many]);
  });

  it('as they are now, however often they were read before', () => {
    const root = temporaryFolder();
    const folders = ['lib64', 'local/lib', 'share'].map((name) => join(root, name));
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    const yesterday = new Date(Date.now() - 86_400_000);
    for (const path of [...folders, root, join(root, 'local')]) utimesSync(path, yesterday, yesterday);
    const first = partsOf(root, usr);
    expect(partsOf(root, usr)).toBe(first);
    for (const path of ['lib64/a.so', 'local/lib/b.so', 'share/fonts']) {
      if (path.endsWith('.so')) writeFileSync(join(root, path), '');
      else mkdirSync(join(root, path));
      expect(partsOf(root, usr).mounts).toContain(join(root, path));
    }
  });

  it('in few steps, whatever its folders contain', () => {
    const root = temporaryFolder();
    for (let index = 0; index < 200; index++) {
      mkdirSync(join(root, `share/${index}`), { recursive: true });
      mkdirSync(join(root, 'lib64'), { recursive: true });
      writeFileSync(join(root, `lib64/lib${index}.so.1`), '');
      symlinkSync(`lib${index}.so.1`, join(root, `lib64/lib${index}.so`));
    }
    const { mounts, covers } = partsOf(root, usr);
    expect(mounts.map((path) => relative(root, path))).toEqual(['lib64']);
    expect(covers).toEqual([]);
  });
});
