import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { removeTree } from '../lib/read-only-tree.ts';
import {
  createSandbox,
  type Mount,
  type ProcessEnd,
  type Sandbox,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import type { SandboxDriver, Spent } from '../schema/index.ts';
import type { PreparedData, PythonEnvironment, Task } from '../tasks/index.ts';
import { type AskForTool, ModelEndpoint } from './model-endpoint.ts';

/** Where processes in a sandbox find the sockets of local services. */
const servicesInside = '/services';
const startMs = 15_000;
const pollMs = 20;
const memoryBytes = 2 ** 30;

interface RunningService {
  name: string;
  sandbox: Sandbox;
  process: SandboxProcess;
  /** The last that it printed. */
  printed: () => string;
}

export interface LocalServicesOptions {
  task: Task;
  prepared: PreparedData;
  python: PythonEnvironment;
  helpersFolder: string;
  driver: SandboxDriver;
  sandboxOptions: SandboxOptions;
  /** Answers what tools ask the model; absent: the endpoint says that there is none. */
  askForTool?: AskForTool | undefined;
  signal: AbortSignal;
}

/**
 * The local services that a task asks for: scripts of the task, each in a sandbox of its own which sees the hidden
 * data, and the harness's own model endpoint. All that an agent's or a submission's sandbox gets of them is a folder
 * with a socket for each.
 */
export class LocalServices implements AsyncDisposable {
  /** Host folder with the sockets; in the system's folder for temporary files, because socket paths must be short. */
  readonly folder: string;
  readonly #driver: SandboxDriver;
  readonly #running: RunningService[] = [];
  readonly #endpoints: ModelEndpoint[] = [];

  private constructor(folder: string, driver: SandboxDriver) {
    this.folder = folder;
    this.#driver = driver;
  }

  /**
   * Starts them and waits until each listens; null for a task without services.
   * @throws SandboxError, or an Error that says what a service that did not start printed
   */
  static async start(options: LocalServicesOptions): Promise<LocalServices | null> {
    const { task, driver, askForTool } = options;
    const { services } = task.file;
    if (services.length === 0) return null;
    const all = new LocalServices(mkdtempSync(join(tmpdir(), 'mlab-services-')), driver);
    try {
      for (const service of services) {
        const socket = join(all.folder, `${service.name}.sock`);
        if (service.kind === 'model') all.#endpoints.push(await ModelEndpoint.listen(socket, askForTool));
        else await all.#start(service.name, service.script, options);
      }
      return all;
    } catch (error) {
      await all[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** What the sandbox of those who may use the services needs for it. */
  get access(): { mounts: Mount[]; variables: Record<string, string> } {
    return {
      mounts: [{ source: this.folder, target: servicesInside, access: 'read' }],
      variables: { MLAB_SERVICES: this.#driver === 'none' ? this.folder : servicesInside },
    };
  }

  /** What was answered by the model endpoint; null for a task that asks for none. */
  get modelUse(): Spent | null {
    return this.#endpoints[0]?.used ?? null;
  }

  /** Why the model endpoint could not answer, where that was not the asking code's doing; null when it could. */
  get modelFailure(): string | null {
    return this.#endpoints.find(({ failure }) => failure !== null)?.failure ?? null;
  }

  /**
   * Ends them all, and says what kept one from doing its part; null when nothing did. Again is harmless.
   */
  async stop(): Promise<string | null> {
    let failure: string | null = null;
    for (const endpoint of this.#endpoints) {
      await endpoint[Symbol.asyncDispose]();
      failure ??= endpoint.failure;
    }
    for (const { name, process, sandbox, printed } of this.#running.splice(0)) {
      const end = await process.kill();
      await sandbox[Symbol.asyncDispose]();
      // One that was about to end when it was told to shows by its exit code.
      const endedItself = end.ending !== 'aborted' || (end.exitCode ?? 0) !== 0;
      if (endedItself) failure ??= endedEarly(name, end, printed());
    }
    removeTree(this.folder);
    return failure;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #start(name: string, script: string, options: LocalServicesOptions): Promise<void> {
    const { driver, sandboxOptions, signal } = options;
    const sandbox = await createSandbox(driver, serviceSandbox(options, this.folder), sandboxOptions);
    const inside = (target: string) => sandbox.pathInside(target);
    let printed = '';
    const starting = sandbox.start(
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
    const process = await starting.catch(async (error: unknown) => {
      await sandbox[Symbol.asyncDispose]();
      throw error;
    });
    this.#running.push({ name, sandbox, process, printed: () => printed });
    const socket = join(this.folder, `${name}.sock`);
    for (let waited = 0; !existsSync(socket); waited += pollMs) {
      signal.throwIfAborted();
      const end = await Promise.race([process.ended, sleep(pollMs, null)]);
      if (end !== null) throw new Error(endedEarly(name, end, printed));
      if (waited > startMs) throw new Error(`the service ${name} did not listen within ${startMs / 1000} s`);
    }
  }
}

/** What a service sees: the task's hidden files and data, read-only, and the folder for its socket. */
function serviceSandbox(
  { task, prepared, python, helpersFolder, driver }: LocalServicesOptions,
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

function endedEarly(name: string, { ending, exitCode, signal }: ProcessEnd, printed: string): string {
  const how = ending === 'exited' ? (signal ?? `exit code ${exitCode}`) : ending.replaceAll('_', ' ');
  const said = printed.trim() === '' ? 'It printed nothing.' : `It printed: ${printed.trim()}`;
  return `the service ${name} ended too early (${how}). ${said}`;
}
