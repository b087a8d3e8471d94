import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTree } from '../lib/read-only-tree.ts';
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import type { RunSpec, SandboxDriver } from '../schema/index.ts';
import { servicesInside, type TaskEquipment } from './workspace.ts';

const startMs = 15_000;
const pollMs = 20;
const memoryBytes = 2 ** 30;

interface Running {
  name: string;
  sandbox: Sandbox;
  process: SandboxProcess;
  /** The last that it printed. */
  printed: () => string;
}

/**
 * The local services that a task asks for, each a script of the task in a sandbox of its own, which sees the hidden
 * data. All that the agent's sandbox gets of them is a folder with a socket for each.
 */
export class LocalServices implements AsyncDisposable {
  /** Host folder with the sockets; in the system's folder for temporary files, because socket paths must be short. */
  readonly folder: string;
  readonly #running: Running[] = [];

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Starts them and waits until each listens; null for a task without services.
   * @throws SandboxError, or an Error that says what a service that did not start printed
   */
  static async start(
    spec: RunSpec,
    equipment: TaskEquipment,
    helpersFolder: string,
    options: SandboxOptions,
    signal: AbortSignal,
  ): Promise<LocalServices | null> {
    const { services } = equipment.task.file;
    if (services.length === 0) return null;
    const all = new LocalServices(mkdtempSync(join(tmpdir(), 'mlab-services-')));
    try {
      for (const { name, script } of services) {
        await all.#start(name, script, spec, equipment, helpersFolder, options, signal);
      }
      return all;
    } catch (error) {
      await all[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Ends them all, and says which one had ended before by itself; null when none had. Again is harmless. */
  async stop(): Promise<string | null> {
    let failure: string | null = null;
    for (const { name, process, sandbox, printed } of this.#running.splice(0)) {
      const { ending, exitCode } = await process.kill();
      await sandbox[Symbol.asyncDispose]();
      // One that was about to end when it was told to shows by its exit code.
      const endedItself = ending !== 'aborted' || (exitCode ?? 0) !== 0;
      if (endedItself) failure ??= endedEarly(name, printed());
    }
    removeTree(this.folder);
    return failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(
    name: string,
    script: string,
    { sandbox: driver }: RunSpec,
    equipment: TaskEquipment,
    helpersFolder: string,
    options: SandboxOptions,
    signal: AbortSignal,
  ): Promise<void> {
    const confined = serviceSandbox(driver, equipment, helpersFolder, this.folder);
    const sandbox = await createSandbox(driver, confined, options);
    const inside = (target: string) => sandbox.pathInside(target);
    let printed = '';
    const process = await sandbox.start(
      [
        ...(['python', '-I', `${inside('/task/hidden')}/${script}`] as const),
        ...['--socket', `${inside(servicesInside)}/${name}.sock`],
        ...['--public', inside('/public'), '--private', inside('/private')],
      ],
      {
        stdin: 'none',
        onOutput: (chunk) => {
          printed = (printed + chunk.toString('utf8')).slice(-2000);
        },
        timeoutMs: null,
        signal,
      },
    );
    this.#running.push({ name, sandbox, process, printed: () => printed });
    const ended = process.ended.then(() => true);
    const socket = join(this.folder, `${name}.sock`);
    for (let waited = 0; !existsSync(socket); waited += pollMs) {
      signal.throwIfAborted();
      if (await Promise.race([ended, sleep(pollMs, false)])) throw new Error(endedEarly(name, printed));
      if (waited > startMs) throw new Error(`the service ${name} did not listen within ${startMs / 1000} s`);
    }
  }
}

/** What a service sees: the task's hidden files and data, read-only, and the folder for its socket. */
function serviceSandbox(
  driver: SandboxDriver,
  { task, prepared, python }: TaskEquipment,
  helpersFolder: string,
  socketsFolder: string,
): SandboxSpec {
  const readable = {
    '/task/hidden': task.hiddenFolder,
    '/public': prepared.publicFolder,
    '/private': prepared.privateFolder,
    '/mlab': helpersFolder,
  };
  const mounts = Object.entries(readable).map(([target, source]) => ({
    source,
    target,
    access: 'read' as const,
  }));
  return {
    mounts: [...mounts, { source: socketsFolder, target: servicesInside, access: 'write' }],
    hide: [],
    workingDirectory: '/tmp',
    variables: { MLAB_HELPERS: driver === 'none' ? helpersFolder : '/mlab' },
    python: { environment: python.environment, basePrefix: python.basePrefix },
    limits: { memoryBytes, processes: 64, fileBytes: 2 ** 28, temporaryBytes: 2 ** 26 },
    watch: null,
    gpu: false,
  };
}

function endedEarly(name: string, printed: string): string {
  return `the service ${name} ended too early. ${printed.trim() === '' ? 'It printed nothing.' : `It printed: ${printed.trim()}`}`;
}
