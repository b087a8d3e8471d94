import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Task } from '../tasks/index.ts';

/**
 * Hidden files of a task to put into a workspace, by their path there: those of its reference solution
 * (`hidden/solution`) or of its trivial predictor (`hidden/constant`). None if there is no such folder.
 */
export function solutionFiles(task: Task, kind: 'solution' | 'constant'): ReadonlyMap<string, string> {
  const folder = join(task.hiddenFolder, kind);
  if (!existsSync(folder)) return new Map();
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      return [relative(folder, path), readFileSync(path, 'utf8')];
    }),
  );
}
