import { ownTurn } from '../lib/own-turn.ts';
import type { SandboxDriver } from '../schema/index.ts';
import type { RuntimeFolder } from './runtime-folder.ts';
import { type Sandbox, SandboxError, type SandboxProcess, type StartOptions } from './sandbox.ts';
import { type CommandRun, supervise } from './supervisor.ts';
import { failedProcess, reasonNotToStart } from './unstartable.ts';

/** The parts in which drivers differ. */
export interface DriverParts {
  driver: SandboxDriver;
  runtime: RuntimeFolder;
  pathInside(target: string): string;
  /** Prepares one command. */
  prepare(argv: readonly string[], options: StartOptions): CommandRun;
  /** Called when the sandbox is closed and none of its commands is running. */
  dispose(): Promise<void>;
}

export function confinedSandbox(parts: DriverParts): Sandbox {
  const starting = new Set<Promise<unknown>>();
  const processes = new Set<SandboxProcess>();
  let disposed = false;

  async function start(argv: readonly [string, ...string[]], options: StartOptions): Promise<SandboxProcess> {
    if (disposed) throw new SandboxError('the sandbox was given up already', 'create a new one');
    const reason = reasonNotToStart(argv);
    if (reason !== null) return failedProcess(reason, options);
    const started = launch(argv, options);
    starting.add(started);
    try {
      return await started;
    } finally {
      starting.delete(started);
    }
  }

  async function launch(argv: readonly string[], options: StartOptions): Promise<SandboxProcess> {
    const process = await supervise(parts.prepare(argv, options), options);
    processes.add(process);
    void process.ended.then(() => processes.delete(process));
    return process;
  }

  async function dispose(): Promise<void> {
    if (disposed) return;
    disposed = true;
    // A command that is starting can be killed only once it runs.
    await Promise.allSettled(starting);
    await Promise.all([...processes].map((process) => process.kill()));
    // With hundreds of runs, others end at the same time.
    await ownTurn();
    await parts.dispose();
    await ownTurn();
    parts.runtime[Symbol.dispose]();
  }

  return {
    driver: parts.driver,
    pathInside: parts.pathInside,
    start,
    [Symbol.asyncDispose]: dispose,
  };
}
