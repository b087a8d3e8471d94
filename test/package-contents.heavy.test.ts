import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { PackedPackage } from './fixtures/packed-package.ts';

const root = join(import.meta.dirname, '..');
let packed: PackedPackage;

beforeAll(() => {
  packed = new PackedPackage();
});
afterAll(() => packed[Symbol.dispose]());

test('the package contains what mlab needs to run, and nothing else', () => {
  const listed = packed
    .run('tar', ['-tzf', packed.tarball], { cwd: packed.scratch })
    .stdout.trim()
    .split('\n');
  const files = listed.map((path) => path.replace(/^package\//, ''));
  for (const needed of [
    'schemas/task.schema.json',
    'bin/mlab.mjs',
    'dist/cli/main.js',
    'README.md',
    'LICENSE',
    'docs/architecture.md',
  ]) {
    expect(files).toContain(needed);
  }
  for (const folder of ['viewer/dist/assets/', 'tasks/digits/hidden/', 'tasks/digits/env/', 'python/']) {
    expect(files.some((file) => file.startsWith(folder))).toBe(true);
  }
  const allowed =
    /^(bin|dist|viewer\/dist|python|tasks|templates|schemas|docs)\/|^scripts\/(hand-over|project-node)\.mjs$|^[^/]+$/;
  const unwanted =
    /__pycache__|\.pyc$|_cache\/|^dist\/.*\.test\.|^python\/(reader\/)?tests\/|^(?!docs\/|templates\/).*(?<!\.d)\.ts$/;
  expect(files.filter((file) => !allowed.test(file) || unwanted.test(file))).toEqual([]);
});

describe('installed in an empty folder', () => {
  let folder: string;

  beforeAll(() => {
    folder = packed.install('plain');
  });

  test.each(['mlab', 'mlagentbench'])('npx %s answers', (command) => {
    const help = packed.run('npx', [command, '--help'], { cwd: folder });
    expect(help.stdout).toContain('Usage: mlab');
    expect(help.status).toBe(0);
    const version = packed.run('npx', [command, '--version'], { cwd: folder });
    expect(version.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  });

  test('a program can import what the package exports, with its types', () => {
    const program = [
      "import { runExperiment, type StoredExperiment, UserError } from 'mlagentbench';",
      "import { readExperiments } from 'mlagentbench/store';",
      "import { seededRandom } from 'mlagentbench/agent';",
      "import { loadTask } from 'mlagentbench/task';",
      "import { FakeEnvironment } from 'mlagentbench/testing';",
      "const none: StoredExperiment[] = readExperiments('nowhere');",
      'console.log(none.length, typeof seededRandom);',
      "console.log(loadTask('digits').file.entry, new FakeEnvironment({ task: { id: 'x' } }).task.id);",
      "await runExperiment({ tasks: ['nothing'] }).catch((error: unknown) => {",
      "  console.log(error instanceof UserError ? error.code : 'other');",
      '});',
    ].join('\n');
    writeFileSync(join(folder, 'program.mts'), program);
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const flags = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--strict',
      '--skipLibCheck',
      '--types',
      'node',
    ];
    const typeRoots = ['--typeRoots', join(root, 'node_modules/@types')];
    const compiled = packed.run(process.execPath, [compiler, ...flags, ...typeRoots, 'program.mts'], {
      cwd: folder,
    });
    expect(compiled.stdout).toBe('');
    const ran = packed.run(process.execPath, ['program.mjs'], { cwd: folder });
    expect(ran.stdout, ran.stderr).toBe('0 function\ntrain.py x\nunknown_task\n');
  });

  test('npm lists what is installed with it, as a release publishes the list', () => {
    // npm lists nothing for a folder without a version.
    packed.run('npm', ['init', '--yes'], { cwd: folder });
    const listed = packed.run('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: folder });
    expect(listed.status, listed.stderr).toBe(0);
    const { components } = z
      .object({ components: z.array(z.object({ name: z.string() })) })
      .parse(JSON.parse(listed.stdout));
    const { dependencies } = z
      .object({ dependencies: z.record(z.string(), z.string()) })
      .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
    const names = components.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['mlagentbench', ...Object.keys(dependencies)]));
    expect(names).not.toContain('vite');
  });

  test('npx mlab finds the tasks that came with it', () => {
    const { status, stdout, stderr } = packed.run('npx', ['mlab', 'tasks', 'ls', '--json'], { cwd: folder });
    expect(status, stderr).toBe(0);
    const ids = collectIds(z.json().parse(JSON.parse(stdout)));
    const five = ['vectorization', 'house-price', 'spaceship-titanic', 'digits', 'diabetes'];
    expect(five.filter((id) => !ids.has(id))).toEqual([]);
  });
});

/** Every `id` anywhere in a JSON document. */
function collectIds(json: unknown, ids = new Set<string>()): Set<string> {
  if (typeof json !== 'object' || json === null) return ids;
  for (const [key, value] of Object.entries(json)) {
    if (key === 'id' && typeof value === 'string') ids.add(value);
    collectIds(value, ids);
  }
  return ids;
}
