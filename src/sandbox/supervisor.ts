import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { GroupUsage } from './limits/limiter.ts';
import type { ProcessEnd, ProcessUsage, SandboxProcess, StartOptions } from './sandbox.ts';
import { type Breach, Watchdog, type WatchTarget } from './watchdog.ts';

const graceMs = 2_000;
/** How long output may continue after every process is dead: only a process that escaped could still hold it. */
const drainMs = 1_000;

/** How a driver runs one command. All process ids are those of the host. */
export interface CommandRun {
  /**
   * Resolves when the command's sandbox is ready.
   * @throws SandboxError if that fails; then only what `release` frees is left
   */
  begin(options: StartOptions): Promise<Begun>;
  watch: WatchTarget;
  /** SIGTERM to every process of the command. */
  terminate(): void;
  /** SIGKILL to every process of the command; resolves when none lives. Always called at the end. */
  destroy(): Promise<void>;
  /** So far, or after the end; null if nothing groups its processes. */
  usage(): Promise<GroupUsage | null>;
  /** Translates the observed exit into the command's. */
  translate(
    exitCode: number | null,
    signal: string | null,
  ): Promise<{ exitCode: number | null; signal: string | null }>;
  /** Frees the command's resources. Does not throw. */
  release(): Promise<void>;
}

/** A command whose sandbox is ready. */
export interface Begun {
  output: Socket;
  /** Null: its standard input is empty. */
  input: CommandInput | null;
  exited: Promise<Exit>;
}

export interface CommandInput {
  /** Written but not read yet. */
  readonly unreadBytes: number;
  write(data: string | Uint8Array): void;
  end(): void;
  /** Closes it at once, whatever is unread. */
  discard(): void;
}

export interface Exit {
  code: number | null;
  signal: string | null;
  /** Why it could not even be spawned. */
  error: Error | null;
}

/**
 * Starts the command and resolves when its sandbox is ready.
 * @throws SandboxError if that fails; nothing of it is left then.
 */
export async function supervise(running: CommandRun, options: StartOptions): Promise<SandboxProcess> {
  try {
    return new Supervised(running, await running.begin(options), options);
  } catch (error) {
    await running.release();
    throw error;
  }
}

class Supervised implements SandboxProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #running: CommandRun;
  readonly #input: CommandInput | null;
  readonly #started = performance.now();
  readonly #watchdog: Watchdog;
  #cause: ProcessEnd['ending'] | null = null;
  #over = false;
  #used: ProcessUsage | null = null;
  #killTimer: NodeJS.Timeout | null = null;

  constructor(running: CommandRun, { output, input, exited }: Begun, options: StartOptions) {
    this.#running = running;
    this.#input = input;
    const drained = drain(output, options.onOutput);
    this.#watchdog = new Watchdog(running.watch, (breach) => this.#breach(breach));
    const timer =
      options.timeoutMs === null ? null : setTimeout(() => this.#stop('timed_out'), options.timeoutMs);
    const abort = () => this.#stop('aborted');
    options.signal?.addEventListener('abort', abort, { once: true });
    this.ended = this.#supervise(exited, drained, output).finally(() => {
      if (timer !== null) clearTimeout(timer);
      options.signal?.removeEventListener('abort', abort);
    });
    if (options.signal?.aborted === true) abort();
  }

  write(data: string | Uint8Array): void {
    if (!this.#over) this.#input?.write(data);
  }

  get unreadBytes(): number {
    return this.#input?.unreadBytes ?? 0;
  }

  endInput(): void {
    this.#input?.end();
  }

  kill(): Promise<ProcessEnd> {
    this.#stop('aborted');
    return this.ended;
  }

  async usage(): Promise<ProcessUsage> {
    if (this.#used !== null) return this.#used;
    await this.#watchdog.sample();
    return this.#usageWith(await this.#running.usage());
  }

  #usageWith(group: GroupUsage | null): ProcessUsage {
    return {
      peakMemoryBytes: group?.peakMemoryBytes ?? this.#watchdog.peakMemoryBytes,
      cpuSeconds: group?.cpuSeconds ?? this.#watchdog.cpuSeconds,
    };
  }

  #stop(cause: ProcessEnd['ending']): void {
    if (this.#over || this.#cause !== null) return;
    this.#cause = cause;
    this.#running.terminate();
    this.#killTimer = setTimeout(() => void this.#running.destroy(), graceMs);
  }

  /** Without the grace period of SIGTERM, in which the command could write more. */
  #breach(cause: Breach): void {
    this.#cause ??= cause;
    if (!this.#over) void this.#running.destroy();
  }

  async #supervise(exited: Promise<Exit>, drained: Promise<void>, output: Socket): Promise<ProcessEnd> {
    const exit = await exited;
    this.#over = true;
    const durationMs = performance.now() - this.#started;
    if (this.#killTimer !== null) clearTimeout(this.#killTimer);
    this.#input?.discard();
    await this.#watchdog.stop();
    await this.#running.destroy();
    await this.#watchdog.settle();
    await Promise.race([drained, sleep(drainMs, undefined, { ref: false })]);
    output.destroy();
    const usage = await this.#running.usage();
    this.#used = this.#usageWith(usage);
    const { exitCode, signal } = await this.#running.translate(exit.code, exit.signal);
    await this.#running.release();
    const ranOutOfMemory = (usage?.outOfMemoryKills ?? 0) > 0 && (exitCode !== 0 || signal !== null);
    return {
      ending: this.#cause ?? (ranOutOfMemory ? 'out_of_memory' : 'exited'),
      exitCode: signal === null ? exitCode : null,
      signal,
      durationMs,
      ...this.#used,
    };
  }
}

function drain(output: Socket, onOutput: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    output.on('data', onOutput);
    output.once('close', () => resolve());
    output.once('error', () => resolve());
  });
}
