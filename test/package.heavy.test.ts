import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';

/**
 * The package as others get it: packed, and installed far from the checkout. npm takes what its cache holds, and
 * asks the registry for the rest (the cache of a `npm ci` lacks the lists of versions), so this needs a network.
 */
const root = join(import.meta.dirname, '..');
let scratch: string;
let tarball: string;

beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'mlab-package-'));
  const packed = run('npm', ['pack', '--pack-destination', scratch], { cwd: root });
  expect(packed.status, packed.stderr).toBe(0);
  tarball = join(scratch, readdirSync(scratch).find((name) => name.endsWith('.tgz')) ?? 'no tarball');
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function run(
  program: string,
  argv: string[],
  options: { cwd: string; path?: string },
): SpawnSyncReturns<string> {
  // What an `npm test` around this says of the checkout; a registry or a cache that is configured so stays.
  const ofTheCheckout = /^npm_(package_|lifecycle_|config_local_prefix)/i;
  const inherited = Object.entries(process.env).filter(([name]) => !ofTheCheckout.test(name));
  return spawnSync(program, argv, {
    cwd: options.cwd,
    encoding: 'utf8',
    maxBuffer: 64 * 2 ** 20,
    env: {
      ...Object.fromEntries(inherited),
      ...(process.env.npm_config_cache === undefined
        ? {}
        : { npm_config_cache: process.env.npm_config_cache }),
      MLAB_CACHE: join(scratch, 'cache'),
      PATH: options.path ?? pathOutsideTheCheckout(),
    },
  });
}

/** Else `npx` would find the checkout's own Node. */
function pathOutsideTheCheckout(): string {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => !folder.startsWith(root)).join(delimiter);
}

/** Installs the tarball in an empty folder, which it returns. */
function install(name: string, ...flags: string[]): string {
  const folder = join(scratch, name);
  mkdirSync(folder);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const result = run('npm', ['install', '--prefer-offline', ...quiet, ...flags, tarball], { cwd: folder });
  expect(result.status, result.stderr).toBe(0);
  return folder;
}

test('the package holds what mlab needs to run, and nothing else', () => {
  const listed = run('tar', ['-tzf', tarball], { cwd: scratch }).stdout.trim().split('\n');
  const files = listed.map((path) => path.replace(/^package\//, ''));
  for (const needed of ['bin/mlab.mjs', 'dist/cli/main.js', 'README.md', 'LICENSE', 'docs/architecture.md']) {
    expect(files).toContain(needed);
  }
  for (const folder of ['viewer/dist/assets/', 'tasks/digits/hidden/', 'tasks/digits/env/', 'python/']) {
    expect(files.some((file) => file.startsWith(folder))).toBe(true);
  }
  const allowed =
    /^(bin|dist|viewer\/dist|python|tasks|docs)\/|^scripts\/(hand-over|project-node)\.mjs$|^[^/]+$/;
  const unwanted = /__pycache__|\.pyc$|_cache\/|^dist\/.*\.test\.|^python\/tests\/|(?<!\.d)\.ts$/;
  expect(files.filter((file) => !allowed.test(file) || unwanted.test(file))).toEqual([]);
});

describe('installed in an empty folder', () => {
  let folder: string;

  beforeAll(() => {
    folder = install('plain');
  });

  test('npx mlab answers', () => {
    const help = run('npx', ['mlab', '--help'], { cwd: folder });
    expect(help.stdout).toContain('Usage: mlab');
    expect(help.status).toBe(0);
    const version = run('npx', ['mlab', '--version'], { cwd: folder });
    expect(version.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('npx mlab finds the tasks that came with it', () => {
    const { status, stdout, stderr } = run('npx', ['mlab', 'tasks', 'ls', '--json'], { cwd: folder });
    expect(status, stderr).toBe(0);
    const ids = collectIds(z.json().parse(JSON.parse(stdout)));
    const five = ['vectorization', 'house-price', 'spaceship-titanic', 'digits', 'diabetes'];
    expect(five.filter((id) => !ids.has(id))).toEqual([]);
  });
});

describe('installed without install scripts', () => {
  let folder: string;
  let launcher: string;

  beforeAll(() => {
    folder = install('without-scripts', '--ignore-scripts');
    launcher = join(folder, 'node_modules/mlagentbench/bin/mlab.mjs');
    mkdirSync(join(scratch, 'old'));
    writeFileSync(join(scratch, 'old/node'), '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
    mkdirSync(join(scratch, 'new'));
    symlinkSync(process.execPath, join(scratch, 'new/node'));
    writeFileSync(join(scratch, 'pretend.mjs'), pretendToBeOld);
  });

  /** The launcher in a Node that says that it is too old. */
  function launch(path: string, ...argv: string[]) {
    const preload = join(scratch, 'pretend.mjs');
    return run(process.execPath, ['--import', preload, launcher, ...argv], { cwd: folder, path });
  }

  test('a system Node that is new enough serves', () => {
    const direct = run(join(scratch, 'new/node'), [launcher, '--version'], { cwd: folder });
    expect(direct.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
    const found = launch([join(scratch, 'old'), join(scratch, 'new')].join(delimiter), '--version');
    expect(found.stdout).toBe(direct.stdout);
    expect(found.status).toBe(0);
  });

  test('without one, mlab says what to do', () => {
    const { status, stdout, stderr } = launch(join(scratch, 'old'), '--version');
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain('needs Node 22.18 or newer');
    expect(stderr).toContain('npm rebuild node --ignore-scripts=false');
  });

  test('what it says to do helps', () => {
    const rebuilt = run('npm', ['rebuild', 'node', '--ignore-scripts=false'], { cwd: folder });
    expect(rebuilt.status, rebuilt.stderr).toBe(0);
    expect(launch('/usr/bin:/bin', '--version').status).toBe(0);
  });
});

const pretendToBeOld =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });\n";

/** Every `id` anywhere in a JSON document. */
function collectIds(json: unknown, ids = new Set<string>()): Set<string> {
  if (typeof json !== 'object' || json === null) return ids;
  for (const [key, value] of Object.entries(json)) {
    if (key === 'id' && typeof value === 'string') ids.add(value);
    collectIds(value, ids);
  }
  return ids;
}
