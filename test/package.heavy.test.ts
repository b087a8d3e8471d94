import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PackedPackage } from './fixtures/packed-package.ts';

let packed: PackedPackage;

beforeAll(() => {
  packed = new PackedPackage();
});
afterAll(() => packed[Symbol.dispose]());

describe('installed without install scripts', () => {
  let folder: string;
  let launcher: string;

  beforeAll(() => {
    folder = packed.install('without-scripts', '--ignore-scripts');
    launcher = join(folder, 'node_modules/mlagentbench/bin/mlab.mjs');
    mkdirSync(join(packed.scratch, 'old'));
    writeFileSync(join(packed.scratch, 'old/node'), '#!/bin/sh\necho v18.20.4\n', { mode: 0o755 });
    mkdirSync(join(packed.scratch, 'new'));
    symlinkSync(process.execPath, join(packed.scratch, 'new/node'));
    writeFileSync(join(packed.scratch, 'pretend.mjs'), pretendToBeOld);
  });

  /** The launcher in a Node that says that it is too old. */
  function launch(path: string, ...argv: string[]) {
    const preload = join(packed.scratch, 'pretend.mjs');
    return packed.run(process.execPath, ['--import', preload, launcher, ...argv], { cwd: folder, path });
  }

  test('a system Node that is new enough serves', () => {
    const direct = packed.run(join(packed.scratch, 'new/node'), [launcher, '--version'], { cwd: folder });
    expect(direct.stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
    const found = launch(
      [join(packed.scratch, 'old'), join(packed.scratch, 'new')].join(delimiter),
      '--version',
    );
    expect(found.stdout).toBe(direct.stdout);
    expect(found.status).toBe(0);
  });

  test('without one, mlab says what to do', () => {
    const { status, stdout, stderr } = launch(join(packed.scratch, 'old'), '--version');
    expect(status).toBe(3);
    expect(stdout).toBe('');
    expect(stderr).toContain('needs Node 22.18 or newer');
    expect(stderr).toContain('npm rebuild node --ignore-scripts=false');
  });

  test('what it says to do helps', () => {
    const rebuilt = packed.run('npm', ['rebuild', 'node', '--ignore-scripts=false'], { cwd: folder });
    expect(rebuilt.status, rebuilt.stderr).toBe(0);
    expect(launch('/usr/bin:/bin', '--version').status).toBe(0);
  });
});

const pretendToBeOld =
  "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });\n";
