import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { docsFile, renewed } from '../../scripts/write-command-line-docs.mjs';
import { exitCodes } from './context.ts';
import { verbs } from './verbs.ts';

const page = readFileSync(docsFile, 'utf8');

test('docs/command-line.md shows all commands and flags', async () => {
  expect(await renewed(page), 'run: npm run node scripts/write-command-line-docs.mjs').toBe(page);
});

test('docs/command-line.md explains every exit code and names every command', () => {
  for (const code of Object.values(exitCodes)) expect(page).toContain(`\n| ${code} |`);
  for (const { name } of verbs) expect(page).toContain(`### mlab ${name}\n`);
});
