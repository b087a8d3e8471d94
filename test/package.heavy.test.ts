import { mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { ownNodePackage } from '../scripts/project-node.mjs';
import { PackedPackage } from './fixtures/packed-package.ts';

/** The limit for what users of mlab install: megabytes on disk. */
const maxMegabytes = 120;

const Report = z.object({ runs: z.array(z.object({ score: z.number().nullable() })) });

let packed: PackedPackage;
let folder: string;
let launcher: string;

beforeAll(() => {
  packed = new PackedPackage();
  folder = packed.install('production', '--omit=dev', '--ignore-scripts');
  launcher = join(folder, 'node_modules/mlagentbench/bin/mlab.mjs');
  mkdirSync(join(packed.scratch, 'old'));
  writeFileSync(join(packed.scratch, 'old/node'), '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
  writeFileSync(join(packed.scratch, 'pretend.mjs'), pretendToBeOld);
});
afterAll(() => packed[Symbol.dispose]());

/** The launcher in a Node that reports that it is too old. */
function launch(path: string, ...argv: string[]) {
  const preload = join(packed.scratch, 'pretend.mjs');
  return packed.run(process.execPath, ['--import', preload, launcher, ...argv], { cwd: folder, path });
}

test(`the package takes ${maxMegabytes} MB at most when it is installed, and no script`, () => {
  const { stdout } = packed.run('du', ['-sm', 'node_modules'], { cwd: folder });
  expect(Number.parseInt(stdout, 10)).toBeGreaterThan(1);
  expect(Number.parseInt(stdout, 10)).toBeLessThanOrEqual(maxMegabytes);
});

test('a newer Node on PATH is used if the one that starts mlab is too old', () => {
  const direct = packed.run(process.execPath, [launcher, '--version'], { cwd: folder });
  expect(direct.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  const found = launch([join(packed.scratch, 'old'), packed.nodeFolder].join(delimiter), '--version');
  expect(found.stdout).toBe(direct.stdout);
  expect(found.status).toBe(0);
});

test('without one, mlab says what to do', () => {
  const { status, stdout, stderr } = launch(join(packed.scratch, 'old'), '--version');
  expect(status).toBe(3);
  expect(stdout).toBe('');
  expect(stderr).toContain('needs Node 22.18 or newer');
});

test('the package runs in the oldest Node that it supports', (context) => {
  const own = ownNodePackage();
  if (own === null) context.skip('npm has no Node for this platform');
  const quiet = ['--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const oldest = join(packed.scratch, 'oldest');
  mkdirSync(oldest);
  const got = packed.run('npm', ['install', ...quiet, `${own?.name}@22.18.0`], { cwd: oldest });
  expect(got.status, got.stderr).toBe(0);
  const path = [join(oldest, 'node_modules', `${own?.name}`, 'bin'), '/usr/bin', '/bin'].join(delimiter);
  const argv = ['mlab', 'run', '--task', 'digits', '--sample', '--agent', 'baseline', '--json'];
  const ran = packed.run('npx', argv, { cwd: folder, path });
  expect(ran.status, ran.stderr).toBe(0);
  const { runs } = Report.parse(JSON.parse(ran.stdout));
  expect(runs).toEqual([expect.objectContaining({ score: expect.any(Number) })]);
});

test('the agent langchain says which packages it needs', () => {
  const { status, stderr } = packed.run(
    'npx',
    ['mlab', 'run', '--task', 'digits', '--agent', 'langchain', '--model', 'openai/none', '--yes'],
    { cwd: folder },
  );
  expect(status).not.toBe(0);
  expect(stderr).toContain('npm install @langchain/core@^1.4.0 @langchain/classic@^1.0.43');
});

const pretendToBeOld =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });\n";
