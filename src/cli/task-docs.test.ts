import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { docsFile, renewed } from '../../scripts/write-task-docs.ts';

test('docs/tasks.md shows the tasks and figures of the task files', () => {
  const page = readFileSync(docsFile, 'utf8');
  expect(renewed(page), 'run: npm run node scripts/write-task-docs.ts').toBe(page);
});

test('docs/tasks.md says where each source comes from', () => {
  expect(readFileSync(docsFile, 'utf8')).not.toContain('`undefined`');
});
