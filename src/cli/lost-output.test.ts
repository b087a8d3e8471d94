import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { launcher } from '../../test/fixtures/mlab-process.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

/** Every write to it fails as on a full disk. */
const fullDisk = '/dev/full';

/** Runs a command in an empty folder that is not quite empty: it logs that the name of an experiment is none. */
function runsLs(lost: 'stdout' | 'stderr', ...flags: string[]) {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'experiments/no name'), { recursive: true });
  writeFileSync(join(folder, 'experiments/no name/plan.json'), '{}');
  const full = openSync(fullDisk, 'w');
  try {
    return spawnSync(process.execPath, [launcher, 'runs', 'ls', ...flags], {
      ...{ cwd: folder, encoding: 'utf8', env: { PATH: process.env.PATH, HOME: folder } },
      stdio: ['ignore', lost === 'stdout' ? full : 'pipe', lost === 'stderr' ? full : 'pipe'],
    });
  } finally {
    closeSync(full);
  }
}

describe.skipIf(!existsSync(fullDisk))('on a full disk', () => {
  test('a command goes on if only its messages are lost', () => {
    expect(runsLs('stderr')).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^No runs in .* yet\./),
    });
  });

  test.each(['text', '--json'])('a command whose result is lost says so, without a stack: %s', (form) => {
    const { status, stderr } = runsLs('stdout', ...(form === 'text' ? [] : [form]));
    expect(stderr).toMatch(/^mlab: The result can't be written: ENOSPC.*\n.*\n$/m);
    expect(stderr).not.toMatch(/^ {4}at /m);
    expect(status).toBe(3);
  });
});
