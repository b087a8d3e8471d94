import { existsSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { UserError } from '../lib/errors.ts';
import type { PythonEnvironment } from './python-environment.ts';
import type { Task } from './task-folder.ts';

/**
 * Absolute paths of the files in site-packages that hold this task's data and must be absent in the sandbox.
 * @throws UserError when one is not there: a task that believes it hides something must be right.
 */
export function withheldPaths(task: Task, environment: PythonEnvironment): string[] {
  const root = realpathSync(environment.sitePackages);
  return task.file.withheld.map((path) => {
    const file = join(environment.sitePackages, path);
    if (!existsSync(file)) {
      throw new UserError(
        'withheld_missing',
        `task ${task.file.id} withholds ${path}, but ${environment.sitePackages} has no such file`,
        'correct "withheld" in task.yaml: has the package moved its data?',
      );
    }
    if (!realpathSync(file).startsWith(root + sep)) {
      throw new UserError(
        'withheld_outside',
        `task ${task.file.id} withholds ${path}, which links to a place outside site-packages`,
        'name the file itself',
      );
    }
    return file;
  });
}
