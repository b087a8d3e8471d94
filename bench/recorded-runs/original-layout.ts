import { appendFileSync, copyFileSync, cpSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskResources } from '../../src/runs/index.ts';
import { ensurePython, loadTask, prepareTask } from '../../src/tasks/index.ts';
import { helpersFolder } from '../task-resources.ts';
import type { RecordedRun } from './recorded-run.ts';

const tasksFolder = join(import.meta.dirname, '../../tasks');

/** Copies the data description beside the tables, as the original did. */
const copiesDescription = `

import pathlib
import shutil

_folders = read_folders()
for _path in pathlib.Path(_folders.downloads).rglob("data_description.txt"):
    shutil.copy(_path, _folders.public / _path.name)
`;

export interface OriginalLayoutOptions {
  /** For Python environments; prepared data is in the scratch folder. */
  cache: string;
  mirror: string;
  /** An empty folder. */
  scratch: string;
  signal: AbortSignal;
  onProgress: (message: string) => void;
}

/**
 * The task house-price with a workspace as the original laid it out: the tables beside the script, and the original
 * starter, which is taken from the recorded run.
 */
export async function housePriceInOriginalLayout(
  run: RecordedRun,
  { cache, mirror, scratch, signal, onProgress }: OriginalLayoutOptions,
): Promise<TaskResources> {
  const tasks = join(scratch, 'tasks');
  const folder = join(tasks, 'house-price');
  cpSync(join(tasksFolder, 'house-price'), folder, { recursive: true });
  appendFileSync(join(folder, 'hidden/prepare.py'), copiesDescription);
  writeFileSync(join(folder, 'env/train.py'), starterOf(run));
  const task = loadTask('house-price', [tasks]);
  const python = await ensurePython(task.requirements, { cache, signal, onProgress });
  const prepared = await prepareTask(task, {
    ...{ cache: join(scratch, 'cache'), python, mirror, signal, onProgress },
    helpers: helpersFolder,
    allowUnverified: true,
  });
  for (const name of readdirSync(prepared.publicFolder))
    copyFileSync(join(prepared.publicFolder, name), join(folder, 'env', name));
  return { task: loadTask('house-price', [tasks]), python, prepared, concealed: [] };
}

/** Its content according to the first action that read it. */
function starterOf({ folder, innerSteps }: RecordedRun): string {
  const read = innerSteps.find(
    ({ action }) => action.name === 'Read File' && action.args.file_name === 'train.py',
  );
  if (read === undefined) throw new Error(`${folder} does not tell the starter script`);
  return read.observation;
}
