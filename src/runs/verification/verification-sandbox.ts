import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountPoints } from '../../environment/index.ts';
import type { ToolModel } from '../../grading/index.ts';
import { removeBeneath } from '../../lib/folder-handle.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import {
  createSandbox,
  type Gpu,
  ownedFolder,
  type ProcessEnd,
  type Sandbox,
  sandboxOptions,
} from '../../sandbox/index.ts';
import type { ObjectId, RunSpec } from '../../schema/index.ts';
import { LocalServices, serviceRestarts } from '../../services/index.ts';
import { type RunFolder, restoreSnapshot } from '../../store/index.ts';
import { publicManifest, type RunFolders, sandboxSpec, type TaskResources } from '../workspace.ts';
import type { Rerun } from './rerun.ts';

export interface VerificationSandboxOptions {
  folder: RunFolder;
  spec: RunSpec;
  resources: TaskResources;
  helpersFolder: string;
  threads: number;
  dockerCommand?: string | undefined;
  /** As many as the run had; default: none. */
  gpus?: readonly Gpu[] | undefined;
  /** Answers the tools of one run of the code; absent: they get an error that there is no model. */
  toolModel?: ToolModel | undefined;
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** The result of a sequence of commands. */
export interface CommandsResult {
  /** Of the last command. */
  end: ProcessEnd;
  /** The end of the output. */
  printed: string;
}

const maxPrinted = 4_000;
/** The limit of timers, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * The workspace that a run left, without some files, in a sandbox like that of the run: the same limits, the public
 * data. Nothing in it is recorded, and it is removed afterwards.
 */
export class VerificationSandbox implements Disposable {
  readonly #options: VerificationSandboxOptions;
  /** Absolute path of its own folder on the host. */
  readonly place = ownedFolder('verify');

  constructor(options: VerificationSandboxOptions) {
    this.#options = options;
  }

  /** Absolute path on the host. */
  get workspace(): string {
    return join(this.place, 'workspace');
  }

  /** Restores the workspace. */
  async prepare(snapshot: ObjectId, without: readonly string[]): Promise<void> {
    const { folder, signal } = this.#options;
    removeTree(this.workspace);
    await restoreSnapshot(folder.objects, snapshot, this.workspace, { ignore: mountPoints, signal });
    for (const path of without) removeBeneath(this.workspace, path);
  }

  /** Runs commands one after another, whatever their results, within the limits of the run. */
  async run(commands: readonly Rerun[]): Promise<CommandsResult | null> {
    const { spec, resources, helpersFolder, threads, toolModel, gpus, signal } = this.#options;
    const options = sandboxOptions(spec, this.#options.dockerCommand);
    await using local = await LocalServices.start({
      ...{ ...resources, helpersFolder, driver: spec.sandbox, sandboxOptions: options, signal },
      askForTool: toolModel?.(),
      restarts: serviceRestarts,
    });
    const folders = await this.#folders(resources);
    const confined = sandboxSpec(
      spec,
      resources,
      folders,
      helpersFolder,
      threads,
      local?.access ?? null,
      null,
      gpus,
    );
    await using sandbox = await createSandbox(spec.sandbox, confined, options);
    const deadline = performance.now() + 1000 * spec.limits.wall_seconds;
    let last: CommandsResult | null = null;
    for (const command of commands) {
      const leftMs = Math.min(1000 * spec.limits.script_seconds, deadline - performance.now());
      if (leftMs <= 0) break;
      this.#options.onProgress(`runs ${command.command.split('\n', 1)[0]}`);
      last = await this.#runOne(sandbox, command, Math.min(leftMs, longestTimerMs));
      signal.throwIfAborted();
    }
    return last;
  }

  [Symbol.dispose](): void {
    removeTree(this.place);
  }

  async #runOne(sandbox: Sandbox, { argv, input }: Rerun, timeoutMs: number): Promise<CommandsResult> {
    const decoder = new TextDecoder();
    let printed = '';
    const process = await sandbox.start(argv, {
      stdin: input === undefined ? 'none' : 'pipe',
      onOutput: (chunk) => {
        printed = (printed + decoder.decode(chunk, { stream: true })).slice(-maxPrinted);
      },
      timeoutMs,
      signal: this.#options.signal,
    });
    if (input !== undefined) {
      process.write(input);
      process.endInput();
    }
    return { end: await process.ended, printed };
  }

  async #folders(resources: TaskResources): Promise<RunFolders> {
    const folders = {
      workspace: this.workspace,
      outputs: join(this.place, 'outputs'),
      brief: join(this.place, 'task.json'),
    };
    mkdirSync(folders.outputs, { recursive: true });
    writeFileSync(folders.brief, JSON.stringify(publicManifest(resources)));
    await openToReaders(folders.outputs, folders.brief);
    return folders;
  }
}
