import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runWithLimitedFiles } from '../../test/fixtures/limited-files.ts';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { OutputStream } from './output-stream.ts';

const module = new URL('./output-stream.ts', import.meta.url).href;

it('does not refer to a file for the whole output if the disk had no space for it', () => {
  const whole = { file: join(temporaryFolder(), 'whole.txt'), shown: '.outputs/1.txt' };
  const script = `import { OutputStream } from ${JSON.stringify(module)};
    const stream = new OutputStream({ onText: null, whole: { ...${JSON.stringify(whole)}, onStored() {} } });
    stream.addText('a line\\n'.repeat(10_000));
    console.log(stream.close());`;
  const shown = runWithLimitedFiles(script, 4096);
  expect(shown).toContain('characters cut');
  expect(shown).not.toContain(whole.shown);
});

it('reports how much it wrote to a file: nothing if the output fits an observation, else everything', () => {
  const file = join(temporaryFolder(), 'whole.txt');
  let stored = 0;
  const whole = { file, shown: '.outputs/1.txt', onStored: (bytes: number) => (stored += bytes) };
  const short = new OutputStream({ onText: null, whole });
  short.addText('a line\n');
  short.close();
  expect(stored).toBe(0);
  const long = new OutputStream({ onText: null, whole });
  for (let line = 0; line < 10_000; line += 1) long.addText('é and a line\n');
  long.close();
  expect(stored).toBe(statSync(file).size);
  expect(stored).toBe(140_000);
});
