import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createSandbox, type Sandbox, type SandboxProcess, type SandboxSpec } from '../sandbox/index.ts';
import type { Spent } from '../schema/index.ts';
import { LocalServices, type LocalServicesOptions } from '../services/index.ts';

const socketName = 'grader.sock';
export const exchangeInside = '/exchange';

export interface SubmissionWorkerOptions extends Omit<LocalServicesOptions, 'askForTool'> {
  /** Gives what answers a worker's tools, metered anew; absent: the task's model endpoint says that there is none. */
  toolModel?: (() => LocalServicesOptions['askForTool']) | undefined;
  /** Host folder with the socket that the grader listens on. */
  exchangeFolder: string;
  /** Host folder that is made and removed for each process: a copy of its code. */
  codeFolder: string;
  /** Script of the submission that is imported, relative to its folder. */
  entry: string;
  memoryMb: number;
  gpu: boolean;
}

interface Running {
  name: string;
  process: SandboxProcess;
  sandbox: Sandbox;
  services: LocalServices | null;
}

/**
 * Runs submitted code for a grader, one process at a time, in a sandbox that holds the code, the public data and a
 * socket and nothing else: no labels, no grader, no result that it could write. It is handed inputs and hands back data.
 */
export class SubmissionWorker {
  readonly #options: SubmissionWorkerOptions;
  #running: Running | null = null;
  readonly #modelUse = new Map<string, Spent>();
  /** What the submitted code printed last, for the details of a failure. */
  #printed = '';

  constructor(options: SubmissionWorkerOptions) {
    this.#options = options;
    mkdirSync(options.exchangeFolder, { recursive: true });
  }

  get printed(): string {
    return this.#printed;
  }

  /** What a worker's tools asked of the model, over all its processes; null for a task that gives none. */
  modelUse(name: string): Spent | null {
    return this.#modelUse.get(name) ?? null;
  }

  /**
   * Starts a process with the code in a folder, and local services that no other process has used.
   * @param name what its use of the model is counted under
   * @param source folder of the code
   */
  async start(name: string, source: string): Promise<void> {
    await this.stop();
    const { driver, sandboxOptions, codeFolder, entry, signal, toolModel } = this.#options;
    cpSync(source, codeFolder, { recursive: true });
    mkdirSync(join(codeFolder, 'data'), { recursive: true });
    const services = await LocalServices.start({ ...this.#options, askForTool: toolModel?.() });
    try {
      const spec = this.#sandboxSpec(services);
      const sandbox = await createSandbox(driver, spec, sandboxOptions);
      this.#printed = '';
      const argv = [
        ...['python', '-I', `${sandbox.pathInside('/mlab')}/submission_worker.py`],
        ...['--socket', `${sandbox.pathInside(exchangeInside)}/${socketName}`],
        ...['--module', join(sandbox.pathInside('/workspace'), entry)],
      ] as [string, ...string[]];
      const process = await sandbox.start(argv, {
        stdin: 'none',
        onOutput: (chunk) => {
          this.#printed = (this.#printed + chunk.toString('utf8')).slice(-2000);
        },
        timeoutMs: null,
        signal,
      });
      this.#running = { name, process, sandbox, services };
    } catch (error) {
      rmSync(codeFolder, { recursive: true, force: true });
      await services?.stop();
      throw error;
    }
  }

  /** @throws Error when a local service did not do its part: no verdict can rest on that */
  async stop(): Promise<void> {
    if (this.#running === null) return;
    const { name, process, sandbox, services } = this.#running;
    this.#running = null;
    await process.kill();
    await sandbox[Symbol.asyncDispose]();
    rmSync(this.#options.codeFolder, { recursive: true, force: true });
    if (services === null) return;
    const failure = await services.stop();
    this.#countModelUse(name, services.modelUse);
    if (failure !== null) throw new Error(failure);
  }

  #countModelUse(name: string, used: Spent | null): void {
    if (used === null) return;
    const before = this.#modelUse.get(name) ?? { calls: 0, tokens: 0, money: 0, unpriced: 0 };
    this.#modelUse.set(name, {
      calls: before.calls + used.calls,
      tokens: before.tokens + used.tokens,
      money: before.money + used.money,
      unpriced: before.unpriced + used.unpriced,
    });
  }

  #sandboxSpec(services: LocalServices | null): SandboxSpec {
    const { prepared, python, helpersFolder, exchangeFolder, codeFolder, memoryMb, gpu } = this.#options;
    return {
      mounts: [
        { source: codeFolder, target: '/workspace', access: 'read' },
        { source: prepared.publicFolder, target: '/workspace/data', access: 'read' },
        { source: helpersFolder, target: '/mlab', access: 'read' },
        { source: exchangeFolder, target: exchangeInside, access: 'read' },
        ...(services?.access.mounts ?? []),
      ],
      hide: [],
      workingDirectory: '/workspace',
      variables: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', ...services?.access.variables },
      python: { environment: python.environment, basePrefix: python.basePrefix },
      limits: {
        memoryBytes: memoryMb * 2 ** 20,
        processes: 64,
        fileBytes: 2 ** 26,
        temporaryBytes: 2 ** 26,
      },
      watch: null,
      gpu,
    };
  }
}
