import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mountPoints } from '../../environment/index.ts';
import { removeBeneath } from '../../lib/folder-handle.ts';
import { openToReaders } from '../../lib/open-to-readers.ts';
import { removeTree } from '../../lib/read-only-tree.ts';
import {
  createSandbox,
  ownedFolder,
  type ProcessEnd,
  type Sandbox,
  sandboxOptions,
} from '../../sandbox/index.ts';
import type { ObjectId, RunSpec } from '../../schema/index.ts';
import { type AskForTool, LocalServices, serviceRestarts } from '../../services/index.ts';
import { type RunFolder, restoreSnapshot } from '../../store/index.ts';
import { publicManifest } from '../open-workspace.ts';
import { type RunFolders, sandboxSpec, type TaskEquipment } from '../workspace.ts';
import type { Rerun } from './rerun.ts';

export interface CleanRoomOptions {
  folder: RunFolder;
  spec: RunSpec;
  equipment: TaskEquipment;
  helpersFolder: string;
  threads: number;
  dockerCommand?: string | undefined;
  /** Answers the tools of one run of the code; absent: the task's model endpoint says that there is none. */
  toolModel?: (() => AskForTool | undefined) | undefined;
  signal: AbortSignal;
  onProgress: (line: string) => void;
}

/** What a sequence of commands came to. */
export interface CleanRun {
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
export class CleanRoom implements Disposable {
  readonly #options: CleanRoomOptions;
  /** Absolute path of a folder of its own on the host. */
  readonly place = ownedFolder('verify');

  constructor(options: CleanRoomOptions) {
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
  async run(commands: readonly Rerun[]): Promise<CleanRun | null> {
    const { spec, equipment, helpersFolder, threads, toolModel, signal } = this.#options;
    const options = sandboxOptions(spec, this.#options.dockerCommand);
    await using local = await LocalServices.start({
      ...{ ...equipment, helpersFolder, driver: spec.sandbox, sandboxOptions: options, signal },
      askForTool: toolModel?.(),
      restarts: serviceRestarts,
    });
    const folders = await this.#folders(equipment);
    const confined = sandboxSpec(spec, equipment, folders, helpersFolder, threads, local?.access ?? null);
    await using sandbox = await createSandbox(spec.sandbox, confined, options);
    const deadline = performance.now() + 1000 * spec.limits.wall_seconds;
    let last: CleanRun | null = null;
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

  async #runOne(sandbox: Sandbox, { argv, input }: Rerun, timeoutMs: number): Promise<CleanRun> {
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

  async #folders(equipment: TaskEquipment): Promise<RunFolders> {
    const folders = {
      workspace: this.workspace,
      outputs: join(this.place, 'outputs'),
      brief: join(this.place, 'task.json'),
    };
    mkdirSync(folders.outputs, { recursive: true });
    writeFileSync(folders.brief, JSON.stringify(publicManifest(equipment)));
    await openToReaders(folders.outputs, folders.brief);
    return folders;
  }
}
