import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join, relative } from 'node:path';
import {
  briefInside,
  type FixedFile,
  helpersInside,
  outputsName,
  workspaceInside,
} from '../environment/index.ts';
import { emptyTree } from '../lib/read-only-tree.ts';
import type { Gpu, Mount, SandboxSpec } from '../sandbox/index.ts';
import type { RunSpec } from '../schema/index.ts';
import type { LocalServices } from '../services/index.ts';
import {
  concealedBy,
  matchesReadOnly,
  type PreparedData,
  type PythonEnvironment,
  type Task,
  withheldContents,
  withheldPaths,
} from '../tasks/index.ts';
import type { ProgramSetting } from './outside/program-setting.ts';

/** What a run needs that is outside its own folder. */
export interface TaskResources {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
  /** Folders of the host that no sandbox of this harness may show. */
  concealed: readonly string[];
}

export interface RunFolders {
  workspace: string;
  outputs: string;
  /** The task's public manifest, for checks inside the sandbox. */
  brief: string;
}

const junk = /(^|\/)(__pycache__|\.ipynb_checkpoints|\.DS_Store)(\/|$)/;

/** Makes a new workspace from the task's starter files. The data is mounted beside it, not copied. */
export async function createWorkspace(task: Task, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  // Something may be mounted there.
  await emptyTree(folder);
  await cp(task.environmentFolder, folder, { recursive: true, filter: (source) => !junk.test(source) });
}

/**
 * Whether an agent may not change this file of its workspace: it matches a glob of the task, or is in a folder that
 * does.
 */
export function isReadOnly(task: Task, path: string): boolean {
  return matchesReadOnly(task.file.read_only, path);
}

/** The sandbox in which a run's commands are executed. */
export function sandboxSpec(
  spec: RunSpec,
  { task, prepared, python, concealed }: TaskResources,
  folders: RunFolders,
  helpersFolder: string,
  threads: number,
  services: LocalServices['access'] | null = null,
  program: Pick<ProgramSetting, 'mounts' | 'otherPythons'> | null = null,
  gpus: readonly Gpu[] = [],
): SandboxSpec {
  const { limits } = spec;
  const megabyte = 2 ** 20;
  return {
    mounts: [
      { source: folders.workspace, target: workspaceInside, access: 'write' },
      { source: prepared.publicFolder, target: `${workspaceInside}/data`, access: 'read' },
      { source: folders.outputs, target: `${workspaceInside}/${outputsName}`, access: 'read' },
      ...readOnlyMounts(task, folders.workspace),
      { source: helpersFolder, target: helpersInside, access: 'read' },
      { source: folders.brief, target: briefInside, access: 'read' },
      ...(services?.mounts ?? []),
      ...(program?.mounts ?? []),
    ],
    hide: withheldPaths(task, python),
    withheld: withheldContents(task, python),
    concealed: [...concealed, ...concealedBy(task, prepared)],
    workingDirectory: workspaceInside,
    variables: {
      MLAB_SEED: String(spec.seed),
      ...services?.variables,
      OMP_NUM_THREADS: String(threads),
      OPENBLAS_NUM_THREADS: String(threads),
      MKL_NUM_THREADS: String(threads),
      // Busy-waiting threads would take the processor from the threads that they wait for, if other work runs beside
      // them.
      OMP_WAIT_POLICY: 'PASSIVE',
    },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    ...(program === null ? {} : { otherPythons: program.otherPythons }),
    limits: {
      memoryBytes: limits.memory_mb * megabyte,
      processes: limits.processes,
      fileBytes: limits.workspace_mb * megabyte,
      temporaryBytes: Math.min(limits.memory_mb, 1024) * megabyte,
    },
    watch: { folder: folders.workspace, maxBytes: limits.workspace_mb * megabyte },
    gpus,
  };
}

function readOnlyMounts(task: Task, workspace: string): Mount[] {
  return fixedFiles(task)
    .filter(({ path }) => existsSync(join(workspace, path)))
    .map(({ path, source }) => ({ source, target: join(workspaceInside, path), access: 'read' }));
}

/** Tasks don't change while they are used, and many runs need these files. */
const knownFixedFiles = new WeakMap<Task, FixedFile[]>();

/** The read-only files of a task's starter. */
export function fixedFiles(task: Task): FixedFile[] {
  const known = knownFixedFiles.get(task) ?? findFixedFiles(task);
  knownFixedFiles.set(task, known);
  return known;
}

function findFixedFiles(task: Task): FixedFile[] {
  return readdirSync(task.environmentFolder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((source) => ({ source, path: relative(task.environmentFolder, source) }))
    .filter(({ path }) => isReadOnly(task, path));
}

/** The task's facts for checks inside the sandbox: nothing secret. */
export function publicManifest({ task }: TaskResources): object {
  return { metric: task.file.metric, submission: task.file.submission };
}
