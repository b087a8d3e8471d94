import { UserError } from '../lib/errors.ts';
import type { TaskEquipment } from '../runs/index.ts';
import { ensurePython, findTasks, loadTask, prepareTask, suites, type Task } from '../tasks/index.ts';
import type { Context } from './context.ts';
import type { Flag } from './verb.ts';

export interface PrepareOptions {
  mirror?: string;
  allowUnverified?: boolean;
  interpreter?: string;
}

/** Flags of every verb that gets data and Python environments. */
export const prepareFlags: Flag[] = [
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

/** The tasks by id or folder, or all of a suite. */
export function chooseTasks(context: Context, ids: readonly string[], suite: string | undefined): Task[] {
  if (suite === undefined) return ids.map((id) => loadTask(id, context.folders.tasks));
  const groups = suites(findTasks(context.folders.tasks).tasks);
  const members = groups.get(suite);
  if (members === undefined) {
    const known = [...groups.keys()].join(', ');
    throw new UserError('unknown_suite', `There is no suite "${suite}".`, `The suites are: ${known}.`);
  }
  return [...members, ...ids.map((id) => loadTask(id, context.folders.tasks))];
}

/** Gets data and Python environment of a task, from the cache where they are there. */
export async function equip(context: Context, task: Task, options: PrepareOptions): Promise<TaskEquipment> {
  const { cache, helpers } = context.folders;
  const { signal } = context;
  const onProgress = (line: string) => context.log(`${task.file.id}: ${line}`);
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
  return { task, python, prepared };
}
