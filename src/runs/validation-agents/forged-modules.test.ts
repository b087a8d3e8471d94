import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadTask } from '../../tasks/index.ts';
import { calledModule, forgedModule, forgedModules } from './forged-modules.ts';

const root = join(import.meta.dirname, '../../..');
const source = (file: string) => readFileSync(join(root, 'python/validation-agents', file), 'utf8');

test('every forgery is one file: the honest code, the shared part, and the forgery', () => {
  const task = loadTask('vectorization', [join(root, 'tasks')]);
  const starter = readFileSync(join(task.environmentFolder, 'train.py'), 'utf8');
  for (const { name } of forgedModules) {
    const forged = forgedModule(name, task, source);
    expect(forged.startsWith(starter), name).toBe(true);
    expect(forged, name).toContain('DEFINED: list[str] = ["convolve"]');
    expect(forged, name).not.toContain('from shared import');
  }
});

test('only a task whose grader calls submitted code has a module to forge', () => {
  const vectorization = loadTask('vectorization', [join(root, 'tasks')]);
  expect(calledModule(vectorization)).toMatchObject({ path: 'train.py', defines: ['convolve'] });
  const digits = loadTask('digits', [join(root, 'tasks')]);
  expect(calledModule(digits)).toBeNull();
  expect(() => forgedModule('zeros', digits, source)).toThrow('no module to forge');
});
