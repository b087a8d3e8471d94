import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  createSandbox,
  type Sandbox,
  type SandboxOptions,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import type { SandboxDriver } from '../schema/index.ts';
import type { PythonEnvironment } from '../tasks/index.ts';

const socketName = 'grader.sock';
export const exchangeInside = '/exchange';

export interface CandidateOptions {
  driver: SandboxDriver;
  sandboxOptions: SandboxOptions;
  python: PythonEnvironment;
  helpersFolder: string;
  /** Host folder with the socket that the grader listens on. */
  exchangeFolder: string;
  /** Host folder that is made and removed for each process: a copy of its code. */
  codeFolder: string;
  /** What agents see as `data/`. */
  publicFolder: string;
  /** Script of the submission that is imported, relative to its folder. */
  entry: string;
  memoryMb: number;
  gpu: boolean;
  signal: AbortSignal;
}

/**
 * Runs submitted code for a grader, one process at a time, in a sandbox that holds the code, the public data and a
 * socket and nothing else: no labels, no grader, no result that it could write. It is handed inputs and hands back data.
 */
export class Candidate {
  readonly #options: CandidateOptions;
  #running: { process: SandboxProcess; sandbox: Sandbox } | null = null;
  /** What the submitted code printed last, for the details of a failure. */
  #printed = '';

  constructor(options: CandidateOptions) {
    this.#options = options;
    mkdirSync(options.exchangeFolder, { recursive: true });
  }

  get printed(): string {
    return this.#printed;
  }

  /** @param source folder of the code */
  async start(source: string): Promise<void> {
    await this.stop();
    const { driver, sandboxOptions, codeFolder, entry, signal } = this.#options;
    cpSync(source, codeFolder, { recursive: true });
    mkdirSync(join(codeFolder, 'data'), { recursive: true });
    const sandbox = await createSandbox(driver, this.#sandboxSpec(), sandboxOptions);
    this.#printed = '';
    const argv = [
      ...['python', '-I', `${sandbox.pathInside('/mlab')}/candidate.py`],
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
    this.#running = { process, sandbox };
  }

  async stop(): Promise<void> {
    if (this.#running === null) return;
    const { process, sandbox } = this.#running;
    this.#running = null;
    await process.kill();
    await sandbox[Symbol.asyncDispose]();
    rmSync(this.#options.codeFolder, { recursive: true, force: true });
  }

  #sandboxSpec(): SandboxSpec {
    const { python, helpersFolder, exchangeFolder, codeFolder, publicFolder, memoryMb, gpu } = this.#options;
    return {
      mounts: [
        { source: codeFolder, target: '/workspace', access: 'read' },
        { source: publicFolder, target: '/workspace/data', access: 'read' },
        { source: helpersFolder, target: '/mlab', access: 'read' },
        { source: exchangeFolder, target: exchangeInside, access: 'read' },
      ],
      hide: [],
      workingDirectory: '/workspace',
      variables: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1' },
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
