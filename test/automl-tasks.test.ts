import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { validateTask } from '../src/tasks/index.ts';

const folder = join(import.meta.dirname, '../bench/automl-tasks');
const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(names)('the task $name, on which automl is measured, is valid', ({ name }) => {
  expect(validateTask(join(folder, name))).toEqual([]);
});
