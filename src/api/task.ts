/** Reads and checks tasks: `import { loadTask } from 'mlagentbench/task'`. Needs no Python and runs nothing. See docs/how-to/use-as-a-library.md. */
import { join, resolve } from 'node:path';
import type { TaskBrief, TaskFile } from '../schema/index.ts';
import {
  findTasks as findIn,
  loadTask as loadFrom,
  suites as suitesOf,
  type TaskProblem,
  validateTask,
} from '../tasks/index.ts';

export { UserError } from '../lib/errors.ts';
export { describeProblem } from '../tasks/index.ts';
export type { TaskBrief, TaskFile, TaskProblem };

/** A valid task. */
export interface Task {
  /** Its task.yaml, with every default. */
  file: TaskFile;
  /** The name of this variant of the folder's task; null for the task itself. */
  variant: string | null;
  /** Absolute path of its folder. */
  folder: string;
  /** SHA-256 over the names and contents of all its files. */
  version: string;
  /** The task as an agent sees it. */
  brief: TaskBrief;
}

/** The folder of the tasks in the package. */
export const packagedTasks = join(import.meta.dirname, '../../tasks');

/**
 * One task: by its id in one of the folders, or by the path of its own folder.
 * @throws UserError `unknown_task`, or `invalid_task` with all problems
 */
export function loadTask(idOrPath: string, folders: readonly string[] = [packagedTasks]): Task {
  return loadFrom(idOrPath, folders);
}

/**
 * The valid tasks in folders of tasks, sorted by id, with their variants; and the problems of the others. If two tasks
 * have the same id, the one from the earlier folder counts.
 */
export function findTasks(folders: readonly string[] = [packagedTasks]): {
  tasks: Task[];
  problems: TaskProblem[];
} {
  return findIn(folders);
}

/**
 * All problems of a task's folder; empty if it is valid. `mlab tasks check` also finds those that show only when the
 * task runs.
 */
export function checkTask(folder: string): TaskProblem[] {
  return validateTask(resolve(folder));
}

/** Tasks by the suites that they belong to. */
export function suites(tasks: readonly Task[]): Map<string, Task[]> {
  return suitesOf(tasks);
}
