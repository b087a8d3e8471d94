import { cpSync, existsSync, globSync, mkdirSync, rmSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { briefInside, helpersInside, outputsName, workspaceInside } from '../environment/index.ts';
import type { Mount, SandboxSpec } from '../sandbox/index.ts';
import type { RunSpec } from '../schema/index.ts';
import { type PreparedData, type PythonEnvironment, type Task, withheldPaths } from '../tasks/index.ts';

/** What a run needs that lies outside its own folder. */
export interface TaskEquipment {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
}

export interface RunFolders {
  workspace: string;
  outputs: string;
  /** The task's public manifest, for checks inside the sandbox. */
  brief: string;
}

const junk = /(^|\/)(__pycache__|\.ipynb_checkpoints|\.DS_Store)(\/|$)/;

/** Makes a fresh workspace from the task's starter files. The data is mounted beside it, not copied. */
export function createWorkspace(task: Task, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(task.environmentFolder, folder, { recursive: true, filter: (source) => !junk.test(source) });
}

/** Whether an agent may not change this file of its workspace. */
export function isReadOnly(task: Task, path: string): boolean {
  return task.file.read_only.some((glob) => matchesGlob(path, glob));
}

/** The sandbox in which a run's commands are executed. */
export function sandboxSpec(
  spec: RunSpec,
  { task, prepared, python }: TaskEquipment,
  folders: RunFolders,
  helpersFolder: string,
  threads: number,
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
    ],
    hide: withheldPaths(task, python),
    workingDirectory: workspaceInside,
    variables: {
      MLAB_SEED: String(spec.seed),
      OMP_NUM_THREADS: String(threads),
      OPENBLAS_NUM_THREADS: String(threads),
      MKL_NUM_THREADS: String(threads),
    },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: {
      memoryBytes: limits.memory_mb * megabyte,
      processes: limits.processes,
      fileBytes: limits.workspace_mb * megabyte,
      temporaryBytes: Math.min(limits.memory_mb, 1024) * megabyte,
    },
    watch: { folder: folders.workspace, maxBytes: limits.workspace_mb * megabyte },
    gpu: spec.gpu,
  };
}

function readOnlyMounts(task: Task, workspace: string): Mount[] {
  const files = task.file.read_only.flatMap((glob) => globSync(glob, { cwd: task.environmentFolder }));
  return [...new Set(files)]
    .filter((file) => existsSync(join(workspace, file)))
    .map((file) => ({
      source: join(task.environmentFolder, file),
      target: join(workspaceInside, file),
      access: 'read',
    }));
}
