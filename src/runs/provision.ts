import { hostname } from 'node:os';
import { UserError } from '../lib/errors.ts';
import {
  changedFiles,
  checkData,
  checkGrader,
  concealedFolders,
  dataVersion,
  ensurePython,
  type HarnessFolders,
  prepareTask,
  sampleOf,
  type Task,
  withFigures,
} from '../tasks/index.ts';
import { buildWheel } from './build-wheel.ts';
import type { TaskResources } from './workspace.ts';

export interface ProvisionOptions {
  /** Small synthetic data of the same format. */
  sample: boolean;
  /** Folder with sources to use instead of the network. */
  mirror?: string | undefined;
  /** The Python that makes environments; default: the first suitable one. */
  interpreter?: string | undefined;
  /** Whether to accept data with other checksums than expected. */
  allowUnverified: boolean;
  folders: HarnessFolders & { helpers: string };
  onProgress: (line: string) => void;
  signal: AbortSignal;
}

/** Provisions data and Python environment of a task, from the cache if they are there. */
export async function provision(whole: Task, options: ProvisionOptions): Promise<TaskResources> {
  const { sample, mirror = null, interpreter = null, allowUnverified, folders, onProgress, signal } = options;
  const { cache, helpers } = folders;
  const task = sample ? sampleOf(whole) : whole;
  await checkData(task, { cache, helpers, mirror, allowUnverified });
  const { build } = task.file;
  const python = await ensurePython(task.requirements, {
    ...{ cache, interpreter, onProgress, signal },
    build: build && { ...build, buildWheel },
  });
  await checkGrader(task, python, signal);
  const prepared = await prepareTask(task, {
    ...{ cache, helpers, mirror, allowUnverified, python, signal, onProgress },
  });
  const measured = withFigures(task, prepared, { cache });
  if (measured.figures === 'of other data') {
    onProgress(
      `its baseline was measured on other data (${task.file.data?.measured_on?.what}), and results get a caveat; ` +
        `measure it on this data with: mlab tasks baseline ${task.file.id} --save`,
    );
  }
  return { task: measured, python, prepared, concealed: concealedFolders(folders) };
}

/** @throws UserError if this machine's data of a task differs from the data with which its runs were planned */
export function refuseOtherData({ task, prepared }: TaskResources, planned: string | undefined): void {
  if (planned === undefined || dataVersion(prepared) === planned) return;
  throw new UserError(
    'data_differs',
    `The data of the task ${task.file.id} on ${hostname()} differs from the data that its runs were planned with.`,
    `Use the same sources (--mirror) and Python version on all machines, delete ${prepared.folder} there and try again.`,
  );
}

/** @throws UserError if a task has changed since its runs were planned, even after this process has read it */
export function refuseChangedTask({ file, folder, version }: Task, planned: string): void {
  const changed = changedFiles(folder, version);
  if (version === planned && changed.length === 0) return;
  const which = changed.length === 0 ? '' : `: ${changed.slice(0, 5).join(', ')} in ${folder}`;
  throw new UserError(
    'task_changed',
    `The task ${file.id} has changed since this experiment was planned${which}.`,
    'Start a new experiment (--name), or restore the old task.',
  );
}
