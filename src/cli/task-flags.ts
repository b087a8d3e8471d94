import { dirname, relative } from 'node:path';
import { shellWord } from '../lib/shell-word.ts';
import { loadTask, type Task } from '../tasks/index.ts';
import type { Context } from './context.ts';

/**
 * ` --task-dir FOLDER` for tasks that were given by their folders: for commands that look for a task by the id that the
 * plan has of it.
 */
export function taskFlagsOf({ folders }: Context, tasks: readonly Task[]): string {
  const unfound = tasks.filter((task) => folderFound(task, folders.tasks) !== task.folder);
  const parents = new Set(unfound.map(({ folder }) => shownFolder(dirname(folder))));
  return [...parents].map((folder) => ` --task-dir ${shellWord(folder)}`).join('');
}

/** Null if there is none, or if another task in its place is broken. */
function folderFound({ file }: Task, folders: readonly string[]): string | null {
  try {
    return loadTask(file.id, folders).folder;
  } catch {
    return null;
  }
}

/** As a person in the working directory would write it. */
function shownFolder(folder: string): string {
  const path = relative(process.cwd(), folder);
  if (path === '') return '.';
  return path.startsWith('..') ? folder : path;
}
