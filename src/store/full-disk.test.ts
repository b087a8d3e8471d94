import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runWithLimitedFiles } from '../../test/fixtures/limited-files.ts';
import { runOnSmallDisk } from '../../test/fixtures/small-disk.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { appendStoredLine, readStoredLines } from './stored-lines.ts';

const moduleUrl = (name: string) => JSON.stringify(new URL(name, import.meta.url).href);

/** Prints the code of the error that each of these throws. */
function failuresOf(imports: string, ...statements: string[]): string {
  const tries = statements.map((text) => `try { ${text} } catch (error) { console.log(error.code); }`);
  return runWithLimitedFiles([imports, ...tries].join('\n'), 4096);
}

test('a plan for which the disk has no space leaves no file, not even a partial one', () => {
  const folder = temporaryFolder();
  const plan = JSON.stringify(join(folder, 'plan.json'));
  const imports = `import { createFileExclusively } from ${moduleUrl('./documents.ts')};`;
  expect(failuresOf(imports, `createFileExclusively(${plan}, 'x'.repeat(9000));`)).toBe('EFBIG\n');
  expect(readdirSync(folder)).toEqual([]);
});

test('the same holds without hard links, where a plan is written in place', (context) => {
  const result = runOnSmallDisk(`import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    fs.linkSync = () => {
      throw Object.assign(new Error('no links'), { code: 'EPERM' });
    };
    syncBuiltinESMExports();
    const { createFileExclusively } = await import(${moduleUrl('./documents.ts')});
    try {
      createFileExclusively('plan.json', 'x'.repeat(150_000));
    } catch (error) {
      console.log(error.code, fs.readdirSync('.'));
    }
    console.log(createFileExclusively('plan.json', 'short'), fs.readdirSync('.'));`);
  if ('obstacle' in result) return context.skip(result.obstacle);
  expect(result.printed).toBe("ENOSPC []\ntrue [ 'plan.json' ]\n");
});

test('a line for which the disk has no space fails with the reason, and damages neither earlier nor later lines', () => {
  const path = join(temporaryFolder(), 'grades.jsonl');
  const imports = `import { appendStoredLine } from ${moduleUrl('./stored-lines.ts')};`;
  const append = (text: string) => `appendStoredLine(${JSON.stringify(path)}, { text: ${text} });`;
  expect(failuresOf(imports, append(`'before'`), append(`'x'.repeat(9000)`))).toBe('EFBIG\n');
  appendStoredLine(path, { text: 'after' });
  const { values, problems } = readStoredLines(z.object({ text: z.string() }), path);
  expect([values, problems.length]).toEqual([[{ text: 'before' }, { text: 'after' }], 1]);
});
