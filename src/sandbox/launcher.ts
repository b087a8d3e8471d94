import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposableStack } from '../lib/disposable-stack.ts';
import { processStartTime } from '../lib/process-identity.ts';
import { coverInherited } from './inherited-files.ts';
import type { LimitGroup } from './limits/limiter.ts';
import { type OutputPipe, openPipe } from './output-pipe.ts';
import { childrenOf, signalAll } from './process-tree.ts';
import { launcherPipes } from './shell.ts';
import { waitForMarker } from './start-marker.ts';
import type { Begun, CommandInput, Exit } from './supervisor.ts';

const deathMs = 10_000;
const longestComplaint = 20_000;

/** A process, distinguishable from a later one with the same id. */
export interface KnownProcess {
  pid: number;
  started: string;
}

export interface LauncherSpec {
  /** The launcher's own folder, closed to others; created by the caller. */
  folder: string;
  /** Joins the group, makes the pipes, and becomes the confined loop of `launcherCommand`. */
  command: readonly string[];
  /** The command reads it as its fourth open file. */
  argumentFile: string;
  group: LimitGroup;
  /**
   * Whether its namespaces contain those of commands; otherwise it is a process of the host, and nothing waits between
   * commands.
   */
  isNested: boolean;
}

/** What a confined shell that waits for its script keeps open. */
interface WaitingShell {
  script: number;
  output: OutputPipe;
  said: OutputPipe;
}

/**
 * A shell in a sandbox's namespaces and limits that starts its commands, one after the other: while the last one ends,
 * another shell already waits, confined. No command sees it: each has its own namespaces below, and of the launcher's
 * files it gets three pipes, which are opened anew each time and only when no process of the previous command lives.
 * This process and the launcher communicate through pipes that are passed on to nobody.
 */
export class Launcher {
  readonly group: LimitGroup;
  readonly #folder: string;
  readonly #isNested: boolean;
  readonly #child: ChildProcess;
  readonly #over: Promise<Exit>;
  #complaint = '';
  #shell: KnownProcess | null = null;
  /** Its mounts when nothing had run in it. */
  #mounts = '';
  #waiting: WaitingShell | null = null;
  #exit = Promise.withResolvers<Exit>();

  /** @throws Error saying why it could not be confined; nothing of it is left then */
  static async start(spec: LauncherSpec): Promise<Launcher> {
    mkdirSync(spec.folder, { mode: 0o700 });
    const launcher = new Launcher(spec);
    try {
      await launcher.#waitUntilReady();
      return launcher;
    } catch (error) {
      await launcher.retire();
      throw error;
    }
  }

  private constructor({ folder, command, argumentFile, group, isNested }: LauncherSpec) {
    this.group = group;
    this.#isNested = isNested;
    this.#folder = folder;
    const [program = '', ...rest] = command;
    using files = new DisposableStack();
    const open = (path: string) => files.adopt(openSync(path, 'r'), closeSync);
    const slots = ['pipe', 'pipe', 'pipe', open(folder), open(argumentFile)] as const;
    const covered = files.use(coverInherited(slots));
    this.#child = spawn(program, rest, {
      stdio: covered.stdio,
      // Everything inside starts with an empty environment; this one is for the program that makes the pipes.
      env: { PATH: '/usr/bin:/bin' },
      cwd: folder,
      detached: true,
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(0, longestComplaint);
    });
    this.#over = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: null, signal: null, error }));
      this.#child.once('close', (code, signal) => resolve({ code, signal, error: null }));
    });
    // All processes that it had started ended with it.
    void this.#over.then(() => this.#exit.resolve({ code: null, signal: 'SIGKILL', error: null }));
  }

  /** The first process of the running command's namespace, with which all others in it die. */
  first(): KnownProcess | null {
    const pid = this.#monitor();
    return pid === null ? null : known(childrenOf(pid)[0]);
  }

  /** Host ids of the processes that do not belong to a command. */
  own(): Set<number> {
    const monitor = this.#monitor();
    const first = monitor === null ? undefined : childrenOf(monitor)[0];
    const pids = [this.#child.pid, this.#shell?.pid, monitor, first];
    return new Set(pids.filter((pid) => pid !== undefined && pid !== null));
  }

  /**
   * Whether it is alive, and its mounts are the same as at its beginning: nothing was moved, removed or mounted since.
   */
  isIntact(): boolean {
    if (!this.#isNested) return this.isAlive();
    return this.#waiting !== null && this.isAlive() && mountsOf(this.#shell) === this.#mounts;
  }

  /**
   * Runs a script in the waiting shell; resolves when the script has printed the marker.
   * @throws Error saying why it did not; the launcher is then no longer usable
   */
  async begin(script: string, marker: string, readsPipe: boolean): Promise<Begun> {
    if (!this.#isNested) this.prepare();
    const waiting = this.#waiting;
    if (waiting === null) throw new Error('nothing waits for a script');
    this.#waiting = null;
    const { output, said } = waiting;
    const input = new Socket({ fd: waiting.script, readable: false, writable: true });
    // A program that does not read its input is not our error.
    input.on('error', () => {});
    input.write(script);
    // If it ends without the marker, its output says why.
    void this.#exit.promise.then(() => said.closeWriteEnd());
    const problem = await waitForMarker(said.reader, marker);
    output.closeWriteEnd();
    said.closeWriteEnd();
    said.reader.destroy();
    if (problem !== null) {
      input.destroy();
      output.reader.destroy();
      throw new Error(problem === '' ? this.#reason(await this.#exit.promise) : problem);
    }
    if (!readsPipe) input.destroy();
    return {
      output: output.reader,
      input: readsPipe ? inputThrough(input) : null,
      exited: this.#exit.promise,
    };
  }

  /** Prepares the next waiting shell. Only when no process of the last command lives: it could have the pipes open. */
  prepare(): void {
    this.#exit = Promise.withResolvers();
    using opened = new DisposableStack();
    const path = (name: string) => join(this.#folder, name);
    const script = path(launcherPipes.script);
    chmodSync(script, 0o600);
    // Also for reading, so that opening does not block.
    const scriptFile = opened.adopt(openSync(script, constants.O_RDWR | constants.O_NONBLOCK), closeSync);
    const output = opened.adopt(openPipe(path(launcherPipes.output)), closePipe);
    const said = openPipe(path(launcherPipes.said));
    opened.move();
    this.#waiting = { script: scriptFile, output, said };
    this.#child.stdin?.write('\n');
  }

  /** Kills it and everything it started; resolves when nothing of it is left. */
  async retire(): Promise<void> {
    const { pid } = this.#child;
    if (this.#shell !== null) signalAll([this.#shell.pid], 'SIGKILL');
    else if (pid !== undefined) this.#child.kill('SIGKILL');
    const late = new AbortController();
    const killed = sleep(deathMs, undefined, { signal: late.signal, ref: false }).catch(() => {});
    await Promise.race([this.#over, killed]);
    late.abort();
    this.#child.kill('SIGKILL');
    await this.group.close();
    if (this.#waiting !== null) {
      closeSync(this.#waiting.script);
      closePipe(this.#waiting.output);
      closePipe(this.#waiting.said);
      this.#waiting = null;
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #waitUntilReady(): Promise<void> {
    const { pid, stdout } = this.#child;
    if (stdout !== null) {
      const up = Promise.withResolvers<void>();
      const lines = createInterface({ input: stdout });
      lines.on('line', (line) => {
        if (line === 'up') up.resolve();
        else this.#exit.resolve({ code: Number(line), signal: null, error: null });
      });
      await Promise.race([
        up.promise,
        this.#over.then((exit) => Promise.reject(new Error(this.#reason(exit)))),
      ]);
    }
    this.#shell = pid === undefined ? null : known(this.#isNested ? childrenOf(pid)[0] : pid);
    if (this.#shell === null) throw new Error('its processes cannot be identified');
    if (!this.#isNested) return;
    this.#mounts = mountsOf(this.#shell);
    this.prepare();
  }

  /** The process on the launcher's side that waits for the command's namespace to end. */
  #monitor(): number | null {
    return this.#shell === null ? null : (childrenOf(this.#shell.pid)[0] ?? null);
  }

  isAlive(): boolean {
    return this.#shell !== null && processStartTime(this.#shell.pid) === this.#shell.started;
  }

  #reason({ code, signal, error }: Exit): string {
    const said = this.#complaint.trim();
    return said !== '' ? said : (error?.message ?? `it ended with ${code ?? signal} before it began`);
  }
}

function known(pid: number | undefined): KnownProcess | null {
  const started = pid === undefined ? null : processStartTime(pid);
  return pid === undefined || started === null ? null : { pid, started };
}

function mountsOf(process: KnownProcess | null): string {
  try {
    return process === null ? '' : readFileSync(`/proc/${process.pid}/mountinfo`, 'latin1');
  } catch {
    return '';
  }
}

/** A pipe can't be half closed: its end is its closing. */
function inputThrough(socket: Socket): CommandInput {
  return {
    get unreadBytes() {
      return socket.writableLength;
    },
    write: (data) => void (socket.destroyed || socket.write(data)),
    end: () => {
      if (!socket.destroyed) socket.write('', () => socket.destroy());
    },
  };
}

function closePipe(pipe: OutputPipe): void {
  pipe.closeWriteEnd();
  pipe.reader.destroy();
}
