import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { installPackages } from '../scripts/npm-packages.mjs';
import { megabytes } from '../scripts/setup.mjs';

const root = join(import.meta.dirname, '..');
const isMeasuredHere = process.platform === 'linux' && process.arch === 'x64';
const cacheBefore = process.env.npm_config_cache;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mlab-downloads-'));
  process.env.npm_config_cache = join(folder, 'cache');
});
afterEach(() => {
  if (cacheBefore === undefined) delete process.env.npm_config_cache;
  else process.env.npm_config_cache = cacheBefore;
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!isMeasuredHere).each([
  ['its packages', '.', megabytes.packages, false],
  ['its packages for production', '.', megabytes.production, true],
  ['a Node', 'scripts/node', megabytes.node, false],
])(
  'set-up downloads as much for %s as it announces, within a tenth',
  async (_, place, said, production) => {
    const project = join(folder, 'project');
    mkdirSync(project);
    for (const file of ['package.json', 'package-lock.json'])
      cpSync(join(root, place, file), join(project, file));
    await installPackages({ folder: project, what: 'packages', megabytes: said, production });
    const content = join(folder, 'cache/_cacache/content-v2');
    const { stdout } = spawnSync('du', ['-s', '--apparent-size', '--block-size=1000000', content], {
      encoding: 'utf8',
    });
    const downloaded = Number.parseInt(stdout, 10);
    expect(downloaded).toBeGreaterThan(said * 0.9);
    expect(downloaded).toBeLessThan(said * 1.1);
  },
  600_000,
);
