import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { overview } from '../docs/how-to/use-as-a-library/overview.ts';
import { temporaryFolder } from './fixtures/temporary-folder.ts';

const docs = join(import.meta.dirname, '../docs/how-to');

test.each(['compare', 'overview'])(
  'docs/how-to/use-as-a-library.md shows the example %s as in its file',
  (name) => {
    const page = readFileSync(join(docs, 'use-as-a-library.md'), 'utf8');
    const file = readFileSync(join(docs, `use-as-a-library/${name}.ts`), 'utf8');
    expect(page).toContain(`\`\`\`ts\n${file}\`\`\``);
  },
);

test('its example of tasks lists suites, and the problems in a folder', () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'mine'));
  writeFileSync(join(folder, 'mine/task.yaml'), 'schema: 1\n');
  const { suites, problems } = overview(folder);
  expect(suites.starter).toContain('digits');
  expect(problems.join()).toMatch(/mine\/task\.yaml:1 title: missing\n {2}fix: add title/);
});
