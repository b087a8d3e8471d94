import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { UserError } from '../lib/errors.ts';
import { sha256 } from '../lib/hash.ts';
import type { PythonEnvironment } from './python-environment.ts';
import type { Task } from './task-folder.ts';

/**
 * Absolute paths of the files in site-packages that contain this task's data and must be absent in the sandbox.
 * @throws UserError if one does not exist: a task must not hide something by a wrong path.
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
        'withhold the file itself, not a link to it',
      );
    }
    return file;
  });
}

/** Content that identifies copies of a withheld file. */
export interface WithheldContent {
  /** Absolute path of the file. */
  path: string;
  bytes: number;
  sha256: string;
}

/** The contents of the withheld files: as they are, and decompressed. */
export function withheldContents(task: Task, environment: PythonEnvironment): WithheldContent[] {
  return withheldPaths(task, environment).flatMap((path) => {
    const file = readFileSync(path);
    return [file, ...unpacked(file)]
      .filter((content) => content.length > 0)
      .map((content) => ({ path, bytes: content.length, sha256: sha256(content) }));
  });
}

function unpacked(file: Buffer): Buffer[] {
  try {
    return file[0] === 0x1f && file[1] === 0x8b ? [gunzipSync(file)] : [];
  } catch {
    // It only starts like a gzip file.
    return [];
  }
}
