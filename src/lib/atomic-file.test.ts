import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runWithLimitedFiles } from '../../test/fixtures/limited-files.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const module = new URL('./atomic-file.ts', import.meta.url).href;

describe('a file that is replaced in one step', () => {
  it('keeps its old content, and leaves no draft, if the disk has no space for the new content', () => {
    const folder = temporaryFolder();
    const path = join(folder, 'run.json');
    writeFileSync(path, 'old');
    const script = `import { writeFileAtomically } from ${JSON.stringify(module)};
      for (const content of ['x'.repeat(10_000), Buffer.alloc(10_000)]) {
        try {
          writeFileAtomically(${JSON.stringify(path)}, content);
        } catch (error) {
          console.log(error.code);
        }
      }`;
    expect(runWithLimitedFiles(script, 4096)).toBe('EFBIG\nEFBIG\n');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(folder)).toEqual(['run.json']);
  });
});
