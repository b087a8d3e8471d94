import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../test/fixtures/temporary-folder.ts';
import { checkTask, describeProblem, findTasks, loadTask, packagedTasks, suites } from './task.ts';

test('a task of the package is loaded by its id, with its defaults and its suites', () => {
  const digits = loadTask('digits');
  expect(digits).toMatchObject({ folder: join(packagedTasks, 'digits'), variant: null });
  expect(digits.file).toMatchObject({ id: 'digits', success: { threshold: 0.1 } });
  expect(digits.brief).not.toHaveProperty('baseline');
  const { tasks, problems } = findTasks();
  expect(problems).toEqual([]);
  expect(suites(tasks).get('starter')).toContainEqual(digits);
});

test('problems of a task are listed, with the line and what to do', () => {
  const folder = join(temporaryFolder(), 'mine');
  mkdirSync(folder);
  writeFileSync(join(folder, 'task.yaml'), 'schema: 1\nid: mine\ntitel: Mine\n');
  const [problem] = checkTask(folder).filter(({ field }) => field === 'titel');
  expect(problem).toMatchObject({ line: 3, fix: 'did you mean "title"?' });
  expect(problem && describeProblem(problem)).toContain('task.yaml:3 titel: unknown key');
  expect(() => loadTask(folder)).toThrow(expect.objectContaining({ code: 'invalid_task' }));
});
