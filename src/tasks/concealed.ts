import { existsSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { PreparedData } from './prepared-data.ts';
import type { Task } from './task-folder.ts';

/** The harness's own folders, which no sandbox may show. */
export interface HarnessFolders {
  /** The folder of the package. */
  package: string;
  experiments: string;
  cache: string;
  /** Each contains folders of tasks. */
  tasks: readonly string[];
}

/** Folders of the host that no sandbox of any task may show, with links resolved as well. */
export function concealedFolders({ tasks, cache, ...folders }: HarnessFolders): string[] {
  const parts = ['data', 'downloads', 'environments'].map((name) => join(cache, name));
  return [
    folders.package,
    folders.experiments,
    cache,
    ...parts,
    ...tasks,
    ...tasks.flatMap(foldersIn),
    tmpdir(),
  ];
}

/** The folders of one task, which may be outside the folders that are searched for tasks. */
export function concealedBy(task: Task, prepared: PreparedData): string[] {
  const { folder, privateFolder } = prepared;
  return [task.folder, dirname(task.hiddenFolder), task.hiddenFolder, folder, privateFolder];
}

function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => !entry.isFile()).map(({ name }) => join(folder, name));
}
