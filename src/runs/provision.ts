import { hostname } from 'node:os';
import { UserError } from '../lib/errors.ts';
import {
  concealedFolders,
  dataVersion,
  ensurePython,
  type HarnessFolders,
  prepareTask,
  sampleOf,
  type Task,
  withFigures,
} from '../tasks/index.ts';
import type { TaskResources } from './workspace.ts';

export interface ProvisionOptions {
  /** Small made-up data of the same format. */
  sample: boolean;
  /** Folder that sources are taken from instead of the network. */
  mirror?: string | undefined;
  /** The Python that environments are made with; default: the first that will do. */
  interpreter?: string | undefined;
  /** Data with other checksums than expected will do. */
  allowUnverified: boolean;
  folders: HarnessFolders & { helpers: string };
  onProgress: (line: string) => void;
  signal: AbortSignal;
}

/** Gets data and Python environment of a task, from the cache where they are there. */
export async function provision(whole: Task, options: ProvisionOptions): Promise<TaskResources> {
  const { sample, mirror = null, interpreter = null, allowUnverified, folders, onProgress, signal } = options;
  const { cache, helpers } = folders;
  const task = sample ? sampleOf(whole) : whole;
  const python = await ensurePython(task.requirements, { cache, interpreter, onProgress, signal });
  const prepared = await prepareTask(task, {
    ...{ cache, helpers, mirror, allowUnverified, python, signal, onProgress },
  });
  const measured = withFigures(task, prepared, { cache });
  if (measured.figures === 'of other data') {
    onProgress(
      `its baseline was measured on other data (${task.file.data?.measured_on?.what}), and results are marked; ` +
        `measure it on this data with: mlab tasks baseline ${task.file.id} --save`,
    );
  }
  return { task: measured, python, prepared, concealed: concealedFolders(folders) };
}

/** @throws UserError where a machine has other data of a task than the one where its runs were planned */
export function refuseOtherData({ task, prepared }: TaskResources, planned: string | undefined): void {
  if (planned === undefined || dataVersion(prepared) === planned) return;
  throw new UserError(
    'data_differs',
    `The data of the task ${task.file.id} on ${hostname()} differs from the data that its runs were planned with.`,
    `Give all machines the same sources (--mirror) and versions of Python, delete ${prepared.folder} and try again.`,
  );
}

/** @throws UserError where a task is not what it was when its runs were planned */
export function refuseChangedTask({ file, version }: Task, planned: string): void {
  if (version === planned) return;
  throw new UserError(
    'task_changed',
    `The task ${file.id} has changed since this experiment was planned.`,
    'Start a new experiment (--name), or restore the old task.',
  );
}
