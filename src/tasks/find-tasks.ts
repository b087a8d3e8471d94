import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { isFolder } from '../lib/files-there.ts';
import { nearest } from '../lib/nearest.ts';
import { TaskBrief, type TaskFile } from '../schema/index.ts';
import { folderVersion } from './folder-version.ts';
import type { ReadTaskOptions } from './read-task-file.ts';
import { withLock } from './requirements.ts';
import { inTask, type Task } from './task-folder.ts';
import { describeProblem, type TaskProblem } from './task-problem.ts';
import { inspectTask } from './validate-task.ts';

export interface FoundTasks {
  /** Sorted by id. */
  tasks: Task[];
  /** Why other folders are not valid tasks. */
  problems: TaskProblem[];
}

/**
 * All valid tasks in these folders of task folders. If two have the same id, the one from the earlier folder is used
 * and the other is reported.
 */
export function findTasks(folders: readonly string[]): FoundTasks {
  const found = new Map<string, Task>();
  const problems: TaskProblem[] = [];
  for (const folder of folders) {
    if (!isFolder(folder)) {
      problems.push(noFolder(resolve(folder)));
      continue;
    }
    for (const candidate of taskFolders(folder)) {
      const { problems: inside, ...read } = inspectTask(candidate);
      problems.push(...inside);
      for (const task of tasksIn(candidate, read)) {
        const earlier = found.get(task.file.id);
        if (earlier === undefined) found.set(task.file.id, task);
        else problems.push(sameId(candidate, earlier));
      }
    }
  }
  return { tasks: [...found.values()].sort((a, b) => (a.file.id < b.file.id ? -1 : 1)), problems };
}

/**
 * One task, by its id in one of the folders or by the path of its own folder (anything with a slash, or `.`).
 * @throws UserError `unknown_task`, or `invalid_task` with all problems.
 */
export function loadTask(idOrPath: string, folders: readonly string[], options: ReadTaskOptions = {}): Task {
  const folder = /^\.{0,2}$|[/\\]/.test(idOrPath) ? resolve(idOrPath) : folderOf(idOrPath, folders, options);
  if (!existsSync(inTask(folder, 'taskFile'))) {
    throw new UserError(
      'unknown_task',
      `${folder} is not a task: it has no task.yaml.`,
      'Name a task or its folder.',
    );
  }
  const { file, variants, problems } = inspectTask(folder, options);
  if (file === null) {
    throw new UserError(
      'invalid_task',
      `the task in ${folder} has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map(describeProblem).join('\n')}`,
      'Fix the task; docs/how-to/write-a-task.md describes the format.',
    );
  }
  const wanted = tasksIn(folder, { file, variants }).find((task) => task.file.id === idOrPath);
  return wanted ?? assemble(folder, file, null);
}

/** The named groups that tasks belong to, each sorted by id. */
export function suites<Grouped extends Pick<Task, 'file'>>(
  tasks: readonly Grouped[],
): Map<string, Grouped[]> {
  const groups = new Map<string, Grouped[]>();
  const sorted = [...tasks].sort((a, b) => (a.file.id < b.file.id ? -1 : 1));
  for (const task of sorted) {
    for (const name of new Set(task.file.suites)) groups.set(name, [...(groups.get(name) ?? []), task]);
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function folderOf(id: string, folders: readonly string[], options: ReadTaskOptions): string {
  for (const name of [id, ...possibleBases(id)]) {
    for (const folder of folders) {
      const candidate = resolve(folder, name);
      if (!existsSync(inTask(candidate, 'taskFile'))) continue;
      if (name === id || inspectTask(candidate, options).variants.has(id.slice(name.length + 1)))
        return candidate;
    }
  }
  const there = folders.filter(isFolder).flatMap(taskFolders);
  const unfinished = there.find((folder) => basename(folder) === id);
  if (unfinished !== undefined) return unfinished;
  const known = there
    .flatMap((folder) => {
      const name = basename(folder);
      return [name, ...[...inspectTask(folder, options).variants.keys()].map((each) => `${name}-${each}`)];
    })
    .sort();
  const near = nearest(id, known) ?? withPart(id, known);
  const isHere = existsSync(inTask(resolve(id), 'taskFile'));
  const meant = isHere ? `./${id}` : near;
  const found =
    known.length === 0 ? `No tasks were found in ${folders.join(', ')}.` : `The tasks are: ${listed(known)}.`;
  throw new UserError(
    'unknown_task',
    `There is no task "${id}".${meant === null ? '' : ` Did you mean "${meant}"?`}`,
    `For one of your own, give its folder, or --task-dir with the folder that contains it. ${found}`,
  );
}

/** The first id with this part; null if there is none, or the part is too short to mean one. */
function withPart(part: string, ids: readonly string[]): string | null {
  return part.length < 3 ? null : (ids.find((id) => id.includes(part.toLowerCase())) ?? null);
}

const mostListed = 10;

function listed(ids: readonly string[]): string {
  const more = ids.length - mostListed;
  const first = ids.slice(0, mostListed).join(', ');
  return more > 0 ? `${first} and ${more} more: mlab tasks ls lists them` : first;
}

/** The task ids of which an id may be a variant: every prefix that ends before a hyphen. */
function possibleBases(id: string): string[] {
  const end = id.lastIndexOf('-');
  return end > 0 ? [id.slice(0, end)] : [];
}

/** Subfolders that are meant to be tasks: those with a task.yaml, or with env/ and hidden/. */
function taskFolders(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => !/^[._]/.test(name))
    .map((name) => resolve(folder, name))
    .filter(
      (path) =>
        existsSync(inTask(path, 'taskFile')) ||
        (isFolder(inTask(path, 'environment')) && isFolder(inTask(path, 'hidden'))),
    )
    .sort();
}

/** The task of a folder and its variants; none if it is not valid. */
function tasksIn(
  folder: string,
  { file, variants }: { file: TaskFile | null; variants: ReadonlyMap<string, TaskFile> },
): Task[] {
  if (file === null) return [];
  return [
    assemble(folder, file, null),
    ...[...variants].map(([name, variant]) => assemble(folder, variant, name)),
  ];
}

function assemble(folder: string, file: TaskFile, variant: string | null): Task {
  const { id, title, problem, entry, metric, read_only, submission } = file;
  return {
    file,
    variant,
    folder,
    environmentFolder: inTask(folder, 'environment'),
    hiddenFolder: inTask(folder, 'hidden'),
    version: folderVersion(folder),
    requirements: withLock(dirname(folder), readFileSync(inTask(folder, 'requirements'), 'utf8')),
    isSample: false,
    figures: 'declared',
    brief: TaskBrief.parse({ id, title, problem, entry, metric, read_only, submission }),
  };
}

function noFolder(folder: string): TaskProblem {
  return {
    file: folder,
    field: null,
    line: null,
    message: 'this folder of tasks does not exist',
    fix: 'create it, or correct its path',
  };
}

function sameId(folder: string, earlier: Task): TaskProblem {
  return {
    file: join(folder, 'task.yaml'),
    field: 'id',
    line: null,
    message: `the task ${earlier.file.id} is also in ${earlier.folder}, which is used`,
    fix: 'rename one of the two: its folder and its id',
  };
}
