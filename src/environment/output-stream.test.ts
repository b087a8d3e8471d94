import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWithLimitedFiles } from '../../test/fixtures/limited-files.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';

const module = new URL('./output-stream.ts', import.meta.url).href;

it('does not say that the whole output is in a file for which the disk had no space', () => {
  const whole = { file: join(temporaryFolder(), 'whole.txt'), shown: '.outputs/1.txt' };
  const script = `import { OutputStream } from ${JSON.stringify(module)};
    const stream = new OutputStream({ onText: null, whole: ${JSON.stringify(whole)} });
    stream.addText('a line\\n'.repeat(10_000));
    console.log(stream.close());`;
  const shown = runWithLimitedFiles(script, 4096);
  expect(shown).toContain('characters cut');
  expect(shown).not.toContain(whole.shown);
});
