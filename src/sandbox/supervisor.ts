import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { coverInherited } from './inherited-files.ts';
import type { GroupUsage } from './limits/limiter.ts';
import type { OutputPipe } from './output-pipe.ts';
import type { ProcessEnd, ProcessUsage, SandboxError, SandboxProcess, StartOptions } from './sandbox.ts';
import { type Breach, Watchdog, type WatchTarget } from './watchdog.ts';

const graceMs = 2_000;
const startMs = 60_000;
/** How long output may go on after every process is dead: only a process that got away could still hold it. */
const drainMs = 1_000;

/** How a driver runs one command. Host process ids throughout. */
export interface CommandRun {
  /** The host process that lives as long as the command does. */
  spawn: {
    command: string[];
    environment: Record<string, string>;
    folder: string;
    extraFiles: (number | 'pipe')[];
  };
  /** Called once, when the host process runs; resolves when its processes can be told. */
  attach(child: ChildProcess): Promise<void>;
  watch: WatchTarget;
  /** SIGTERM to every process of the command. */
  terminate(): void;
  /** SIGKILL to every process of the command; resolves when none lives. Called at the end in any case. */
  destroy(): Promise<void>;
  /** Until now, or after the end; null where nothing groups its processes. */
  usage(): Promise<GroupUsage | null>;
  /** What the host process's end says about the command's. */
  translate(
    exitCode: number | null,
    signal: string | null,
  ): Promise<{ exitCode: number | null; signal: string | null }>;
  /** Gives back what the command needed. Does not throw. */
  release(): Promise<void>;
  /** The likely reason why it did not start, and what to do about it. */
  explain(message: string): SandboxError;
}

export function newMarker(): string {
  return `sandbox-stands-${randomBytes(8).toString('hex')}`;
}

/**
 * Starts the command and resolves when its sandbox stands.
 * @throws SandboxError when that fails; nothing of it is left then.
 */
export async function supervise(
  running: CommandRun,
  marker: string,
  output: OutputPipe,
  options: StartOptions,
): Promise<SandboxProcess> {
  const child = await launch(running, output, options);
  const exited = exitOf(child);
  try {
    await Promise.all([running.attach(child), standing(child, exited, marker, running)]);
  } catch (error) {
    await dismantle(running, child, output);
    throw error;
  }
  return new Supervised(running, child, exited, output, options);
}

class Supervised implements SandboxProcess {
  readonly ended: Promise<ProcessEnd>;
  readonly #running: CommandRun;
  readonly #child: ChildProcess;
  readonly #started = performance.now();
  readonly #watchdog: Watchdog;
  #cause: ProcessEnd['ending'] | null = null;
  #over = false;
  #used: ProcessUsage | null = null;
  #killTimer: NodeJS.Timeout | null = null;

  constructor(
    running: CommandRun,
    child: ChildProcess,
    exited: Promise<Exit>,
    output: OutputPipe,
    options: StartOptions,
  ) {
    this.#running = running;
    this.#child = child;
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
    if (this.#child.stdin?.writable === true) this.#child.stdin.write(data);
  }

  endInput(): void {
    this.#child.stdin?.end();
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

  /** No grace: it would be used to fill more. */
  #breach(cause: Breach): void {
    this.#cause ??= cause;
    if (!this.#over) void this.#running.destroy();
  }

  async #supervise(exited: Promise<Exit>, drained: Promise<void>, output: OutputPipe): Promise<ProcessEnd> {
    const exit = await exited;
    this.#over = true;
    const durationMs = performance.now() - this.#started;
    if (this.#killTimer !== null) clearTimeout(this.#killTimer);
    await this.#watchdog.stop();
    await this.#running.destroy();
    await this.#watchdog.settle();
    await Promise.race([drained, sleep(drainMs, undefined, { ref: false })]);
    output.reader.destroy();
    const usage = await this.#running.usage();
    this.#used = this.#usageWith(usage);
    const { exitCode, signal } = await this.#running.translate(exit.code, exit.signal);
    await this.#running.release();
    const starved = (usage?.outOfMemoryKills ?? 0) > 0 && (exitCode !== 0 || signal !== null);
    return {
      ending: this.#cause ?? (starved ? 'out_of_memory' : 'exited'),
      exitCode: signal === null ? exitCode : null,
      signal,
      durationMs,
      ...this.#used,
    };
  }
}

interface Exit {
  code: number | null;
  signal: string | null;
  /** Why it could not even be spawned. */
  error: Error | null;
}

/** @throws SandboxError for what Node itself refuses; the rest shows in the child's end. */
async function launch(running: CommandRun, output: OutputPipe, options: StartOptions): Promise<ChildProcess> {
  try {
    return spawnChild(running, output, options);
  } catch (error) {
    output.reader.destroy();
    await running.release();
    throw running.explain(messageOf(error));
  }
}

function spawnChild(running: CommandRun, output: OutputPipe, options: StartOptions): ChildProcess {
  const { command, environment, folder, extraFiles } = running.spawn;
  const [program = '', ...rest] = command;
  const input = options.stdin === 'pipe' ? 'pipe' : 'ignore';
  try {
    using covered = coverInherited([input, output.writeEnd, 'pipe', ...extraFiles]);
    const child = spawn(program, rest, {
      stdio: covered.stdio,
      env: environment,
      cwd: folder,
      detached: true,
    });
    // A program that does not read its input is no error of ours.
    child.stdin?.on('error', () => {});
    return child;
  } finally {
    output.closeWriteEnd();
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: null, error }));
    child.once('exit', (code, signal) => resolve({ code, signal, error: null }));
  });
}

/** Resolves when the marker was read; what stands before it, and all of it when it never comes, is the driver's. */
async function standing(
  child: ChildProcess,
  exited: Promise<Exit>,
  marker: string,
  running: CommandRun,
): Promise<void> {
  const said = child.stderr;
  if (said === null) throw running.explain('it has no standard error');
  const timer = new AbortController();
  const late = sleep(startMs, 'late' as const, { signal: timer.signal, ref: false }).catch(
    () => 'late' as const,
  );
  const outcome = await Promise.race([findMarker(said, marker), late]);
  timer.abort();
  if (outcome === 'found') return;
  if (outcome === 'late') throw running.explain(`it did not start within ${startMs / 1000} seconds`);
  const exit = await exited;
  const reason = exit.error === null ? outcome.trim() : messageOf(exit.error);
  throw running.explain(reason === '' ? `it ended with ${exit.code ?? exit.signal} before it began` : reason);
}

/** `found`, or the whole text. */
function findMarker(stream: Readable, marker: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    stream.setEncoding('utf8');
    stream.on('data', (part: string) => {
      if (text.length < 20_000) text += part;
      if (text.includes(marker)) resolve('found');
    });
    stream.once('close', () => resolve(text));
    stream.once('error', () => resolve(text));
  });
}

function drain(output: OutputPipe, onOutput: (chunk: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    output.reader.on('data', onOutput);
    output.reader.once('close', () => resolve());
    output.reader.once('error', () => resolve());
  });
}

async function dismantle(running: CommandRun, child: ChildProcess, output: OutputPipe): Promise<void> {
  output.reader.resume();
  await running.destroy();
  child.kill('SIGKILL');
  output.reader.destroy();
  await running.release();
}
