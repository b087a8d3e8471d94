import { expect, it } from 'vitest';
import { runOnSmallDisk } from '../../test/fixtures/small-disk.ts';

const module = new URL('./runtime-folder.ts', import.meta.url).href;

it('leaves no folder of a sandbox for which the disk has no space', (context) => {
  const result = runOnSmallDisk(`
    import { openSync, readdirSync, writeSync } from 'node:fs';
    import { RuntimeFolder } from ${JSON.stringify(module)};
    process.env.TMPDIR = process.cwd();
    try {
      const ballast = openSync('ballast', 'w');
      for (;;) writeSync(ballast, Buffer.alloc(4096));
    } catch {
      try {
        new RuntimeFolder();
      } catch (error) {
        console.log(error.code, readdirSync('.'));
      }
    }`);
  if ('obstacle' in result) return context.skip(result.obstacle);
  expect(result.printed).toBe("ENOSPC [ 'ballast' ]\n");
});
