import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { UserError } from '../lib/errors.ts';
import { isFolder } from '../lib/files-there.ts';
import { nearest } from '../lib/nearest.ts';
import { provision as provisionTask, type TaskResources } from '../runs/index.ts';
import type { Job } from '../schema/index.ts';
import { checkData, findTasks, loadPrepared, loadTask, suites, type Task } from '../tasks/index.ts';
import type { Context } from './context.ts';
import { MovingLine } from './moving-line.ts';
import type { Flag } from './verb.ts';

export interface ResourceFlags {
  mirror?: string;
  allowUnverified?: boolean;
  interpreter?: string;
  sample?: boolean;
}

/** Flags of every verb that provisions data and Python environments. */
export const prepareFlags: Flag[] = [
  {
    flags: '--sample',
    description: 'use small synthetic data of the same format, without a download; results get a caveat',
  },
  {
    flags: '--mirror <folder>',
    description: 'take source files from a local folder instead of the network',
    parse: existingFolder,
  },
  {
    flags: '--allow-unverified',
    description: 'accept data whose checksums differ from the expected ones; results get a caveat',
  },
  {
    flags: '--interpreter <python>',
    description: 'Python to create environments with (3.10 or newer)',
  },
];

function existingFolder(path: string, flag: string): string {
  if (isFolder(path)) return path;
  throw new UserError('bad_flag', `${flag}: there is no folder ${path}.`, 'Give the path of a folder.');
}

/** The tasks by id or folder, and all tasks of a suite; each once. */
export function chooseTasks(
  context: Context,
  ids: readonly string[],
  suite: string | undefined,
  reading: Parameters<typeof loadTask>[2] = {},
): Task[] {
  const named = ids.map((id) => loadTask(id, context.folders.tasks, reading));
  const chosen = [...(suite === undefined ? [] : membersOf(context, suite)), ...named];
  for (const { file, folder } of named) {
    const others = context.folders.tasks.map((parent) => resolve(parent, file.id)).filter(hasTask);
    const other = others.find((path) => path !== folder);
    if (other !== undefined) context.log(`${file.id}: the task in ${folder}, not the one in ${other}`);
  }
  return [...new Map(chosen.map((task) => [task.file.id, task])).values()];
}

const hasTask = (folder: string) => existsSync(join(folder, 'task.yaml'));

function membersOf(context: Context, suite: string): Task[] {
  const { tasks, namedTasks } = context.folders;
  const groups = suites(findTasks(tasks).tasks);
  const members = suites(findTasks(namedTasks).tasks).get(suite) ?? groups.get(suite);
  if (members !== undefined) return members;
  const known = [...groups.keys()];
  const meant = nearest(suite, known);
  const hint = `${meant === null ? '' : `Did you mean "${meant}"? `}The suites are: ${known.join(', ')}.`;
  throw new UserError('unknown_suite', `There is no suite "${suite}".`, hint);
}

/**
 * Reports what is missing of the data of any task, as far as that is known at once: before anything is installed.
 * @throws UserError as `provision`
 */
export async function checkDataOf(
  { folders: { cache, helpers } }: Context,
  tasks: readonly Task[],
  { sample = false, mirror, allowUnverified = false }: ResourceFlags,
): Promise<void> {
  for (const task of sample ? [] : tasks) {
    try {
      await checkData(task, { cache, helpers, mirror: mirror ?? null, allowUnverified });
    } catch (error) {
      throw withSampleHint(error, task, sample);
    }
  }
}

/** Provisions data and Python environment of a task, from the cache if they are there. */
export async function provision(
  { folders, signal, log, logger, isTerminal }: Context,
  task: Task,
  { sample, mirror, interpreter, allowUnverified }: ResourceFlags,
): Promise<TaskResources> {
  using progress = new MovingLine(isTerminal && !logger.isOnStandardError, log);
  try {
    return await provisionTask(task, {
      ...{ mirror, interpreter, folders, signal },
      sample: sample === true,
      allowUnverified: allowUnverified === true,
      onProgress: (line) => {
        progress.show(`${task.file.id}: ${line}`);
        logger.write('info', 'task_set_up', { task: task.file.id, message: line });
      },
    });
  } catch (error) {
    throw withSampleHint(error, task, sample === true);
  }
}

/** Errors because of data that can't be had. */
const dataErrors: ReadonlySet<string> = new Set([
  ...['offline', 'network', 'not_found', 'server_error', 'no_access', 'not_in_mirror', 'no_checksum'],
  ...['kaggle_credentials', 'kaggle_rules', 'kaggle_competition'],
]);

/** The same error; where the task can be tried without its data, it says how. */
function withSampleHint(error: unknown, { file }: Task, isSample: boolean): unknown {
  if (isSample || file.sample === undefined || !UserError.isInstance(error)) return error;
  if (!dataErrors.has(error.code)) return error;
  const hint = `${error.hint.replace(/[.;]?$/, '.')} Or add --sample, which runs ${file.id} on small synthetic data without a download.`;
  return new UserError(error.code, error.message, hint, { cause: error });
}

/** The same, for other machines that may have to provision them. */
export function provisioningOf({ mirror, interpreter, allowUnverified }: ResourceFlags): Job['provisioning'] {
  return {
    ...(mirror === undefined ? {} : { mirror: resolve(mirror) }),
    ...(interpreter === undefined ? {} : { interpreter }),
    allow_unverified: allowUnverified === true,
  };
}

/** Whether this task's data is verified, so that results are comparable; provisions nothing. */
export async function isVerified(context: Context, task: Task, options: ResourceFlags): Promise<boolean> {
  const { cache, helpers } = context.folders;
  const allowUnverified = options.allowUnverified === true;
  const prepared = await loadPrepared(task, { cache, helpers, allowUnverified });
  return prepared?.verified ?? true;
}
