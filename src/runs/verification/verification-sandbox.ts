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
  /** Answers the tools of one run of the code; absent: they are told that there is none. */
  toolModel?: ToolModel | undefined;
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** What a sequence of commands came to. */
export interface CommandsResult {
  /** Of the last one. */
  end: ProcessEnd;
  /** The last that was printed. */
  printed: string;
}

const mostPrinted = 4_000;
/** Timers hold no more, about 24 days. */
const longestTimerMs = 2 ** 31 - 1;

/**
 * A workspace as a run left it, without some files, in a sandbox as the run had it: the same limits, the public data.
 * Nothing of it is recorded, and it is gone afterwards.
 */
export class VerificationSandbox implements Disposable {
  readonly #options: VerificationSandboxOptions;
  /** Absolute path of a folder of its own on the host. */
  readonly place = ownedFolder('verify');

  constructor(options: VerificationSandboxOptions) {
    this.#options = options;
  }

  /** Absolute path on the host. */
  get workspace(): string {
    return join(this.place, 'workspace');
  }

  /** Makes the workspace anew. */
  async prepare(snapshot: ObjectId, without: readonly string[]): Promise<void> {
    const { folder, signal } = this.#options;
    removeTree(this.workspace);
    await restoreSnapshot(folder.objects, snapshot, this.workspace, { ignore: mountPoints, signal });
    for (const path of without) removeBeneath(this.workspace, path);
  }

  /** Runs commands one after another, whatever each comes to, within the limits of the run. */
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
        printed = (printed + decoder.decode(chunk, { stream: true })).slice(-mostPrinted);
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
