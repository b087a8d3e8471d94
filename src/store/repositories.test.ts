import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { ObjectId } from '../schema/index.ts';
import { ObjectStore } from './object-store.ts';
import { withoutRepositories } from './repositories.ts';
import { restoreSnapshot } from './restore.ts';
import { SnapshotTaker } from './snapshot-taker.ts';

function git(folder: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
  return execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Makes repositories whose settings run a program that writes a file, in several forms. */
function makeTraps(workspace: string, proof: string): void {
  for (const place of ['.', 'nested', 'bare', 'linked']) {
    const folder = join(workspace, place);
    mkdirSync(folder, { recursive: true });
    git(folder, 'init', '--quiet');
    git(folder, 'config', 'core.fsmonitor', `touch ${proof}; false`);
    writeFileSync(join(folder, 'code.py'), 'print(1)\n');
  }
  const bare = join(workspace, 'bare');
  for (const name of readdirSync(join(bare, '.git'))) renameSync(join(bare, '.git', name), join(bare, name));
  execFileSync('rmdir', [join(bare, '.git')]);
  git(bare, 'config', '--file', join(bare, 'config'), 'core.bare', 'false');
  git(bare, 'config', '--file', join(bare, 'config'), 'core.worktree', '.');
  renameSync(join(workspace, 'linked/.git'), join(workspace, 'elsewhere'));
  writeFileSync(join(workspace, 'linked/.git'), 'gitdir: ../elsewhere\n');
}

function statusIn(folder: string): void {
  try {
    git(folder, 'status');
  } catch {
    // There is no repository.
  }
}

test('git runs no program of the agent in any folder of a restored workspace', async () => {
  const workspace = temporaryFolder();
  const place = temporaryFolder();
  const proof = join(temporaryFolder(), 'proof');
  makeTraps(workspace, proof);
  statusIn(join(workspace, 'bare'));
  expect(existsSync(proof)).toBe(true);
  execFileSync('rm', [proof]);
  const objects = new ObjectStore(join(place, 'objects'));
  const { id } = await new SnapshotTaker(objects, workspace).take();
  const restored = join(place, 'restored');
  const { leftOut } = await restoreSnapshot(objects, id, restored, { withoutRepositories: true });
  for (const folder of ['.', 'nested', 'bare', 'linked', 'elsewhere']) statusIn(join(restored, folder));
  expect(existsSync(proof)).toBe(false);
  expect(leftOut).toEqual(
    expect.arrayContaining(['.git', 'nested/.git', 'linked/.git', 'bare/HEAD', 'bare/config', 'bare/hooks']),
  );
  expect(existsSync(join(restored, 'nested/code.py'))).toBe(true);
  const whole = join(place, 'whole');
  expect((await restoreSnapshot(objects, id, whole)).leftOut).toEqual([]);
  statusIn(whole);
  expect(existsSync(proof)).toBe(true);
});

test('a name of any length is compared at once', () => {
  const paths = [`.git${' .'.repeat(500_000)}`, `${' '.repeat(1_000_000)}x`];
  const { leftOut } = withoutRepositories(paths.map((path) => ({ path, folder: true })));
  expect(leftOut).toEqual(paths.slice(0, 1));
});

test('names that some file system treats as .git are left out, and others stay', () => {
  const object = ObjectId.parse('a'.repeat(64));
  const file = (path: string) => ({ path, object, size: 1, mode: 0o644, mtime: 0 });
  const traps = [
    '.GIT',
    '.g\u200cit',
    '.git. ',
    'git~1',
    '.git::$INDEX_ALLOCATION',
    'a\\.git\\config',
    '.hg',
    '.jj',
  ];
  const harmless = ['.gitignore', '.github', 'git', 'HEAD', 'config', 'hooks', 'git~'];
  const entries = [...traps, ...harmless].map(file);
  const { kept, leftOut } = withoutRepositories(entries);
  expect(kept.map(({ path }) => path)).toEqual(harmless);
  expect(leftOut).toEqual(traps.toSorted());
});
