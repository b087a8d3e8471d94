import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openToCallers, openToReaders } from '../lib/open-to-readers.ts';
import { removeTree } from '../lib/read-only-tree.ts';
import type { AskForProcess, CallRecord } from '../models/index.ts';
import {
  createSandbox,
  type Gpu,
  type ProcessEnd,
  type Sandbox,
  type SandboxProcess,
  type SandboxSpec,
} from '../sandbox/index.ts';
import type { Spent, SubmissionProblem } from '../schema/index.ts';
import { LocalServices, type LocalServicesOptions } from '../services/index.ts';
import { addCall, nothingSpent } from '../store/index.ts';
import { concealedBy, withheldContents, withheldPaths } from '../tasks/index.ts';

const socketName = 'grader.sock';
const processes = 64;
/** How long a process that closed its connection may take to exit, so that its exit says why. */
const endMs = 2_000;
/** The limit of timers, about 24 days. */
export const longestTimerMs = 2 ** 31 - 1;
/** The name of the task's own files, whose time is not counted. */
export const starterName = 'starter';
export const exchangeInside = '/exchange';

/**
 * Makes the function that answers the tools of one process of submitted code, with its own quota.
 * @param record called for each model call
 */
export type ToolModel = (record?: (call: CallRecord) => void) => AskForProcess;

export interface SubmissionWorkerOptions extends Omit<LocalServicesOptions, 'askForTool'> {
  /** Answers a worker's tools; without it they get an error that there is no model. */
  toolModel?: ToolModel | undefined;
  /** Host folder with the grader's socket. */
  exchangeFolder: string;
  /** Host folder for a copy of the code, created and removed for each process. */
  codeFolder: string;
  /** Script of the submission to import, relative to its folder. */
  entry: string;
  memoryMb: number;
  /** The time limit for all processes of one submission together. */
  seconds: number;
  gpus?: readonly Gpu[] | undefined;
}

interface Running {
  name: string;
  process: SandboxProcess;
  sandbox: Sandbox;
  services: LocalServices | null;
}

/**
 * Runs submitted code for a grader, one process at a time, in a sandbox that contains the code, the public data and a
 * socket and nothing else: no labels, no grader, no result that it could write. It receives inputs and returns data.
 */
export class SubmissionWorker implements AsyncDisposable {
  readonly #options: SubmissionWorkerOptions;
  #running: Running | null = null;
  readonly #modelUse = new Map<string, Spent>();
  /** Milliseconds that each submission's processes ran. */
  readonly #ran = new Map<string, number>();
  #modelFailure: string | null = null;

  constructor(options: SubmissionWorkerOptions) {
    this.#options = options;
    mkdirSync(options.exchangeFolder, { recursive: true });
  }

  /** Why the model gateway could not answer some request; null if it answered all. */
  get modelFailure(): string | null {
    return this.#modelFailure;
  }

  /** What a worker's tools used of the model, over all its processes; null for a task without a model. */
  modelUse(name: string): Spent | null {
    return this.#modelUse.get(name) ?? null;
  }

  /**
   * Starts a process with the code in a folder, and with new local services.
   * @param name under which its use of the model is counted
   * @param source folder of the code
   * @returns why it may not run any more; null if it runs
   */
  async start(name: string, source: string): Promise<SubmissionProblem | null> {
    await this.stop(false);
    const timeoutMs = this.#leftMs(name);
    if (timeoutMs !== null && timeoutMs <= 0) return this.#tookTooLong();
    const { task, driver, sandboxOptions, codeFolder, entry, signal, toolModel } = this.#options;
    cpSync(source, codeFolder, { recursive: true });
    mkdirSync(join(codeFolder, 'data'), { recursive: true });
    await openToReaders(codeFolder);
    const socket = join(this.#options.exchangeFolder, socketName);
    if (existsSync(socket)) openToCallers(socket);
    const offersModel = task.file.services.some(({ kind }) => kind === 'model');
    if (offersModel) this.#modelUse.set(name, this.#modelUse.get(name) ?? nothingSpent);
    const askForTool = toolModel?.((call) => this.#countCall(name, call));
    const services = await LocalServices.start({ ...this.#options, askForTool });
    try {
      const spec = this.#sandboxSpec(services);
      const sandbox = await createSandbox(driver, spec, sandboxOptions);
      const argv = [
        ...['python', '-I', `${sandbox.pathInside('/mlab')}/submission_worker.py`],
        ...['--socket', `${sandbox.pathInside(exchangeInside)}/${socketName}`],
        ...['--module', join(sandbox.pathInside('/workspace'), entry)],
      ] as [string, ...string[]];
      const process = await sandbox.start(argv, {
        stdin: 'none',
        // The output of submitted code is not read.
        onOutput: () => {},
        timeoutMs,
        signal,
      });
      this.#running = { name, process, sandbox, services };
      return null;
    } catch (error) {
      removeTree(codeFolder);
      await services?.stop();
      throw error;
    }
  }

  /**
   * @param gone whether its connection has closed, so that it may be about to exit
   * @returns what the submitted code did wrong; null if nothing
   * @throws Error if a local service ended early, and nothing else was wrong
   */
  async stop(gone: boolean): Promise<SubmissionProblem | null> {
    const { problem, serviceFailure } = await this.#end(gone);
    if (problem === null && serviceFailure !== null) throw new Error(serviceFailure);
    return problem;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end(false);
  }

  async #end(gone: boolean): Promise<{ problem: SubmissionProblem | null; serviceFailure: string | null }> {
    if (this.#running === null) return { problem: null, serviceFailure: null };
    const { name, process, sandbox, services } = this.#running;
    this.#running = null;
    if (gone) await Promise.race([process.ended, sleep(endMs, undefined, { ref: false })]);
    const end = await process.kill();
    this.#ran.set(name, (this.#ran.get(name) ?? 0) + end.durationMs);
    await sandbox[Symbol.asyncDispose]();
    removeTree(this.#options.codeFolder);
    const problem = this.#problemOf(end);
    if (services === null) return { problem, serviceFailure: null };
    const { modelFailure, scriptFailure } = await services.stop();
    this.#modelFailure ??= modelFailure;
    return { problem, serviceFailure: modelFailure ?? scriptFailure };
  }

  #leftMs(name: string): number | null {
    if (name === starterName) return null;
    return Math.min(1000 * this.#options.seconds - (this.#ran.get(name) ?? 0), longestTimerMs);
  }

  #problemOf({ ending }: ProcessEnd): SubmissionProblem | null {
    if (ending === 'timed_out') return this.#tookTooLong();
    if (ending !== 'out_of_memory') return null;
    const most = `${this.#options.memoryMb} MB of memory, or more than ${processes} processes`;
    return { code: 'crashed', message: `the submitted code took more than ${most}` };
  }

  #tookTooLong(): SubmissionProblem {
    const { seconds } = this.#options;
    const message = `the submitted code ran for more than ${seconds} s in one grading, all calls together`;
    return { code: 'timed_out', message };
  }

  #countCall(name: string, call: CallRecord): void {
    this.#modelUse.set(name, addCall(this.#modelUse.get(name) ?? nothingSpent, call));
  }

  #sandboxSpec(services: LocalServices | null): SandboxSpec {
    const { task, prepared, python, concealed, helpersFolder } = this.#options;
    const { exchangeFolder, codeFolder, memoryMb, gpus = [] } = this.#options;
    return {
      mounts: [
        { source: codeFolder, target: '/workspace', access: 'read' },
        { source: prepared.publicFolder, target: '/workspace/data', access: 'read' },
        { source: helpersFolder, target: '/mlab', access: 'read' },
        { source: exchangeFolder, target: exchangeInside, access: 'read' },
        ...(services?.access.mounts ?? []),
      ],
      hide: withheldPaths(task, python),
      withheld: withheldContents(task, python),
      concealed: [...concealed, ...concealedBy(task, prepared)],
      workingDirectory: '/workspace',
      variables: { OMP_NUM_THREADS: '1', OPENBLAS_NUM_THREADS: '1', ...services?.access.variables },
      python: { environment: python.environment, basePrefix: python.basePrefix },
      limits: {
        memoryBytes: memoryMb * 2 ** 20,
        processes,
        fileBytes: 2 ** 26,
        temporaryBytes: 2 ** 26,
      },
      watch: null,
      gpus,
    };
  }
}
