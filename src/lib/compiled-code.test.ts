import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

test('a child process stores compiled code in the same folder as its parent', () => {
  const folder = temporaryFolder();
  const program = `const { compiledCodeVariables } = await import(${JSON.stringify(join(import.meta.dirname, 'compiled-code.ts'))});
    console.log(compiledCodeVariables().NODE_COMPILE_CACHE ?? 'nowhere');`;
  const said = (code: string) =>
    spawnSync(process.execPath, ['--input-type=module', '-e', `${code}\n${program}`], {
      encoding: 'utf8',
      env: { ...process.env, NODE_COMPILE_CACHE: undefined },
    }).stdout.trim();
  const enable = `import module from 'node:module'; module.enableCompileCache(${JSON.stringify(folder)});`;
  expect(said(enable)).toBe(folder);
  expect(said('')).toBe('nowhere');
});
