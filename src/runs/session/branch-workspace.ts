import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { mountPoints } from '../../environment/index.ts';
import { AsyncDisposableStack } from '../../lib/disposable-stack.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { ownTurn } from '../../lib/own-turn.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import {
  createSandbox,
  type Gpu,
  giveToAgent,
  openWorkspaceVolume,
  type Sandbox,
  sandboxOptions,
  type WorkspaceHolder,
} from '../../sandbox/index.ts';
import type { ObjectId, RunSpec } from '../../schema/index.ts';
import type { LocalServices } from '../../services/index.ts';
import { outputFile, type RunFolder, removeFolder, Snapshotter } from '../../store/index.ts';
import type { ProgramSetting } from '../outside/program-setting.ts';
import { createWorkspace, type RunFolders, sandboxSpec, type TaskResources } from '../workspace.ts';

/** The files of one branch of a run, and the sandbox for its commands. Closing it keeps the files. */
export interface BranchWorkspace extends AsyncDisposable {
  folders: RunFolders;
  /** What keeps it within its size limit. */
  heldBy: WorkspaceHolder;
  snapshotter: Snapshotter;
  /** The workspace when it was opened. */
  snapshot: ObjectId;
  sandbox: Sandbox;
}

/** What all branches of a run share. */
export interface BranchWorkspaceOptions {
  spec: RunSpec;
  folder: RunFolder;
  resources: TaskResources;
  helpersFolder: string;
  threads: number;
  /** The container engine's command; default: docker. */
  dockerCommand?: string | undefined;
  /** How code in the sandbox reaches the task's services. */
  services: LocalServices['access'] | null;
  /** Additions to the agent's sandbox, if the agent is a program. */
  setting?: ProgramSetting | null | undefined;
  /** Those of the run; default: none. */
  gpus?: readonly Gpu[] | undefined;
  /** Of a workspace that may still have many of the same files. */
  origin?: Snapshotter | undefined;
  signal: AbortSignal;
}

/** The first branch of every run: its files are in the run's folder itself. */
export const mainBranch = 'main';

/**
 * Restores the workspace of a branch to its state after a step (null: the task's starter), and makes the sandbox around
 * it. Earlier contents are removed.
 */
export async function openBranchWorkspace(
  branch: string,
  from: { step: number; snapshot: ObjectId } | null,
  options: BranchWorkspaceOptions,
): Promise<BranchWorkspace> {
  const { spec, folder, resources, helpersFolder, threads, services, origin, gpus, signal } = options;
  const { objects } = folder;
  const folders = branchFolders(folder, branch);
  await using opened = new AsyncDisposableStack();
  mkdirSync(folders.outputs, { recursive: true });
  await openToReaders(folders.outputs);
  // Hundreds of runs may begin together.
  await ownTurn();
  discardOutputsAfter(from?.step ?? 0, folders.outputs);
  // Other users of this machine must not reach a workspace, whatever permissions an agent sets in it.
  chmodSync(dirname(folders.workspace), 0o700);
  const { lease } = folder;
  const mayBeWritten = lease?.followsSilence || (spec.sandbox === 'none' && lease?.follows);
  if (lease && mayBeWritten) await moveAway(folders.workspace, lease.epoch, signal);
  // Unconfined commands could write anywhere else instead.
  const volume =
    spec.sandbox === 'none'
      ? { holder: 'watchdog' as const }
      : opened.use(await openWorkspaceVolume(folders.workspace, spec.limits.workspace_mb * 2 ** 20));
  const snapshotter = opened.use(new Snapshotter(objects, folders.workspace));
  if (from === null) await createWorkspace(resources.task, folders.workspace);
  else mkdirSync(folders.workspace, { recursive: true });
  await giveToAgent(spec.sandbox, folders.workspace);
  // What is restored gets the folder's owner.
  if (from !== null) await snapshotter.restore(from.snapshot, { ignore: mountPoints, from: origin, signal });
  const snapshot = from?.snapshot ?? (await snapshotter.take({ ignore: mountPoints, signal })).id;
  await ownTurn();
  const confined = sandboxSpec(
    spec,
    resources,
    folders,
    helpersFolder,
    threads,
    services,
    options.setting,
    gpus,
  );
  const sandbox = opened.use(
    await createSandbox(spec.sandbox, confined, sandboxOptions(spec, options.dockerCommand)),
  );
  const everything = opened.move();
  return {
    ...{ folders, heldBy: volume.holder, snapshotter, snapshot, sandbox },
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** The folders of a branch's files. The task's manifest is the same for all. */
export function branchFolders(folder: RunFolder, branch: string): RunFolders {
  const brief = join(folder.folder, 'task.json');
  if (branch === mainBranch)
    return { workspace: join(folder.folder, 'workspace'), outputs: folder.outputsFolder, brief };
  const home = join(folder.folder, 'branches', branch);
  return { workspace: join(home, 'workspace'), outputs: join(home, 'outputs'), brief };
}

/** Its last state is in the store. Files that can't be deleted don't affect the run. */
export async function discardBranchWorkspace(
  { workspace, outputs }: RunFolders,
  signal: AbortSignal,
): Promise<void> {
  try {
    await removeFolder(workspace, signal);
    await ownTurn();
    if (readdirSync(outputs).length === 0) rmdirSync(outputs);
    chmodSync(dirname(workspace), 0o777 & ~process.umask());
  } catch {
    // It stays until the run's folder is deleted.
  }
}

/** Unconfined commands, and those of an owner that was silent, may still write to the folder in which they began. */
async function moveAway(workspace: string, epoch: number, signal: AbortSignal): Promise<void> {
  if (!existsSync(workspace)) return;
  const aside = `${workspace}-before-${epoch}-${randomBytes(3).toString('hex')}`;
  renameSync(workspace, aside);
  // Their writes meanwhile may keep it from being removed.
  await removeFolder(aside, signal).catch(() => signal.throwIfAborted());
}

/** A step that was cut off is taken again: the agent must not read its old output. */
function discardOutputsAfter(step: number, folder: string): void {
  const last = outputFile(step);
  for (const name of readdirSync(folder)) if (name > last) removeTree(join(folder, name));
}
