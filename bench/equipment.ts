import { join } from 'node:path';
import type { TaskEquipment } from '../src/runs/index.ts';
import { ensurePython, loadTask, prepareTask } from '../src/tasks/index.ts';

const projectFolder = join(import.meta.dirname, '..');

/** Python helpers that sandboxed scripts and graders use. */
export const helpersFolder = join(projectFolder, 'python');
export const launcher = join(projectFolder, 'bin/mlab.mjs');

/** The task of a few milliseconds that runs are made of here: it needs no packages and no download. */
export async function equip(cache: string, signal: AbortSignal): Promise<TaskEquipment> {
  const task = loadTask('bench-line', [join(import.meta.dirname, 'tasks')]);
  const python = await ensurePython(task.requirements, { cache, signal });
  const prepared = await prepareTask(task, {
    ...{ cache, python, signal },
    helpers: helpersFolder,
    allowUnverified: false,
  });
  return { task, python, prepared };
}
