import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { runOnSmallDisk } from '../../test/fixtures/small-disk.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const module = new URL('./system-files.ts', import.meta.url).href;

it('leaves no folder of system files for which the disk has no space', (context) => {
  const result = runOnSmallDisk(`
    import { openSync, readdirSync, writeSync } from 'node:fs';
    import { systemFiles } from ${JSON.stringify(module)};
    process.env.TMPDIR = process.cwd();
    try {
      const ballast = openSync('ballast', 'w');
      for (;;) writeSync(ballast, Buffer.alloc(4096));
    } catch {
      try {
        systemFiles();
      } catch (error) {
        console.log(error.code, readdirSync('.'));
      }
    }`);
  if ('obstacle' in result) return context.skip(result.obstacle);
  expect(result.printed).toBe("ENOSPC [ 'ballast' ]\n");
});

it('creates the system files once, again if they were removed, and removes them at its end', () => {
  const temporary = temporaryFolder();
  const script = `
    import { existsSync, readdirSync, rmSync } from 'node:fs';
    import { dirname } from 'node:path';
    import { systemFiles } from ${JSON.stringify(module)};
    const first = systemFiles();
    const second = systemFiles();
    rmSync(dirname(first.etc), { recursive: true });
    const third = systemFiles();
    console.log(second.etc === first.etc, third.etc === first.etc, readdirSync(third.etc).includes('passwd'));`;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module-typescript', '--eval', script], {
    encoding: 'utf8',
    env: { ...process.env, TMPDIR: temporary },
  });
  expect(stdout).toBe('true false true\n');
  expect(readdirSync(temporary)).toEqual([]);
});
