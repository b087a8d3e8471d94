import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it } from 'vitest';

it('sets flags that this version of V8 knows: of others it says so', () => {
  const source = join(import.meta.dirname, 'short-pauses.ts');
  const program = (lines: string) => `import { setFlagsFromString } from 'node:v8'; ${lines}`;
  const printedBy = (lines: string) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [
      '--input-type=module',
      '--eval',
      program(lines),
    ]);
    return { status, printed: `${stdout}${stderr}` };
  };
  const unknown = printedBy("setFlagsFromString('--no-such-flag-of-v8');");
  expect(unknown.printed).toContain('no-such-flag-of-v8');
  const known = printedBy(`(await import(${JSON.stringify(source)})).keepPausesShort();`);
  expect(known).toEqual({ status: 0, printed: '' });
});
