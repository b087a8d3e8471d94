import { UserError } from '../lib/errors.ts';
import { nearest } from '../lib/nearest.ts';
import type { TaskResources } from '../runs/index.ts';
import {
  concealedFolders,
  ensurePython,
  findTasks,
  loadPrepared,
  loadTask,
  prepareTask,
  sampleOf,
  suites,
  type Task,
  withFigures,
} from '../tasks/index.ts';
import type { Context } from './context.ts';
import type { Flag } from './verb.ts';

export interface PrepareOptions {
  mirror?: string;
  allowUnverified?: boolean;
  interpreter?: string;
  sample?: boolean;
}

/** Flags of every verb that gets data and Python environments. */
export const prepareFlags: Flag[] = [
  {
    flags: '--sample',
    description: 'small made-up data of the same format, with no download; results are marked',
  },
  { flags: '--mirror <folder>', description: 'take sources from a local folder instead of the network' },
  {
    flags: '--allow-unverified',
    description: 'accept data with other checksums than expected; results are marked',
  },
  {
    flags: '--interpreter <python>',
    description: 'the Python that environments are made with (3.10 or newer)',
  },
];

/** The tasks by id or folder, and all of a suite; each once. */
export function chooseTasks(context: Context, ids: readonly string[], suite: string | undefined): Task[] {
  const named = ids.map((id) => loadTask(id, context.folders.tasks));
  const chosen = [...(suite === undefined ? [] : membersOf(context, suite)), ...named];
  return [...new Map(chosen.map((task) => [task.file.id, task])).values()];
}

function membersOf(context: Context, suite: string): Task[] {
  const groups = suites(findTasks(context.folders.tasks).tasks);
  const members = groups.get(suite);
  if (members !== undefined) return members;
  const known = [...groups.keys()];
  const meant = nearest(suite, known);
  const hint = `${meant === null ? '' : `Did you mean "${meant}"? `}The suites are: ${known.join(', ')}.`;
  throw new UserError('unknown_suite', `There is no suite "${suite}".`, hint);
}

/** Gets data and Python environment of a task, from the cache where they are there. */
export async function provision(
  context: Context,
  whole: Task,
  options: PrepareOptions,
): Promise<TaskResources> {
  const task = options.sample === true ? sampleOf(whole) : whole;
  const { cache, helpers } = context.folders;
  const { signal } = context;
  const onProgress = (line: string) => {
    context.log(`${task.file.id}: ${line}`);
    context.logger.write('info', 'task_set_up', { task: task.file.id, message: line });
  };
  const interpreter = options.interpreter ?? null;
  const python = await ensurePython(task.requirements, { cache, interpreter, onProgress, signal });
  const prepared = await prepareTask(task, {
    cache,
    mirror: options.mirror ?? null,
    allowUnverified: options.allowUnverified === true,
    python,
    helpers,
    signal,
    onProgress,
  });
  const measured = withFigures(task, prepared, { cache });
  if (measured.figures === 'of other data') {
    onProgress(
      `its baseline was measured on other data (${task.file.data?.measured_on?.what}), and results are marked; ` +
        `measure it on this data with: mlab tasks baseline ${task.file.id} --save`,
    );
  }
  return { task: measured, python, prepared, concealed: concealedFolders(context.folders) };
}

/** Whether results with this task's data can be compared: without getting what is not there yet. */
export async function isVerified(context: Context, task: Task, options: PrepareOptions): Promise<boolean> {
  const { cache, helpers } = context.folders;
  const allowUnverified = options.allowUnverified === true;
  const prepared = await loadPrepared(task, { cache, helpers, allowUnverified });
  return prepared?.verified ?? true;
}
