import { constants, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { BranchPlace, BranchPlaces, BranchStart } from '../../environment/index.ts';
import type { BranchId } from '../../schema/index.ts';
import type { LocalServices } from '../../services/index.ts';
import { type Lineage, outputFile, type RunFolder, type Snapshotter } from '../../store/index.ts';
import {
  type BranchWorkspace,
  type BranchWorkspaceOptions,
  branchFolders,
  discardBranchWorkspace,
  mainBranch,
  openBranchWorkspace,
} from './branch-workspace.ts';

type ServicesEnd = Awaited<ReturnType<LocalServices['stop']>>;

export interface SessionBranchesOptions extends Omit<BranchWorkspaceOptions, 'services' | 'origin'> {
  /** Null for a task without services. */
  startServices: (askForTool: BranchStart['askForTool']) => Promise<LocalServices | null>;
}

/**
 * Makes the workspaces of a session's branches. Each has its own services, which identify the branch that calls them.
 */
export class SessionBranches implements BranchPlaces, AsyncDisposable {
  readonly #options: SessionBranchesOptions;
  readonly #services = new Set<LocalServices>();
  /** Of branches with a workspace: a fork copies unchanged files from its origin's. */
  readonly #snapshotters = new Map<BranchId, Snapshotter>();
  #end: ServicesEnd = { modelFailure: null, scriptFailure: null };

  constructor(options: SessionBranchesOptions) {
    this.#options = options;
  }

  /** @param from null: the task's starter, before the first session */
  async openMain(
    from: Pick<BranchStart, 'step' | 'snapshot'> | null,
    askForTool: BranchStart['askForTool'],
  ): Promise<BranchWorkspace> {
    const services = await this.#start(askForTool);
    const opened = await openBranchWorkspace(mainBranch, from, {
      ...this.#options,
      services: services?.access ?? null,
    });
    this.#snapshotters.set(mainBranch, opened.snapshotter);
    return opened;
  }

  async open(branch: BranchId, start: BranchStart): Promise<BranchPlace> {
    const { folder, signal } = this.#options;
    copyOutputs(folder, branch, start.lineage);
    const services = await this.#start(start.askForTool);
    const access = services?.access ?? null;
    // The nearest comes first.
    const origin = [...start.lineage.keys()].find((before) => this.#snapshotters.has(before)) ?? mainBranch;
    const opened = await openBranchWorkspace(branch, start, {
      ...{ ...this.#options, services: access },
      origin: this.#snapshotters.get(origin),
    });
    this.#snapshotters.set(branch, opened.snapshotter);
    const close = async () => {
      this.#snapshotters.delete(branch);
      await opened[Symbol.asyncDispose]();
      if (services !== null) await this.#stop(services);
    };
    return {
      ...opened,
      discard: async () => {
        await close();
        await discardBranchWorkspace(opened.folders, signal);
      },
      [Symbol.asyncDispose]: close,
    };
  }

  outputsFolder(branch: BranchId): string {
    return branchFolders(this.#options.folder, branch).outputs;
  }

  /** Ends the services of all branches; returns why one of them failed, if any did. */
  async stopServices(): Promise<ServicesEnd> {
    for (const services of this.#services) await this.#stop(services);
    return this.#end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopServices();
  }

  async #start(askForTool: BranchStart['askForTool']): Promise<LocalServices | null> {
    const services = await this.#options.startServices(askForTool);
    if (services !== null) this.#services.add(services);
    return services;
  }

  async #stop(services: LocalServices): Promise<void> {
    this.#services.delete(services);
    const { modelFailure, scriptFailure } = await services.stop();
    this.#end = {
      modelFailure: this.#end.modelFailure ?? modelFailure,
      scriptFailure: this.#end.scriptFailure ?? scriptFailure,
    };
  }
}

/** Output of earlier steps can be read on a branch, too. */
function copyOutputs(folder: RunFolder, branch: BranchId, lineage: Lineage): void {
  const target = branchFolders(folder, branch).outputs;
  mkdirSync(target, { recursive: true });
  for (const [id, lastStep] of lineage) {
    const source = branchFolders(folder, id).outputs;
    if (id === branch || !existsSync(source)) continue;
    for (const name of readdirSync(source)) {
      const copy = join(target, name);
      if (name <= outputFile(lastStep) && !existsSync(copy))
        copyFileSync(join(source, name), copy, constants.COPYFILE_FICLONE);
    }
  }
}
