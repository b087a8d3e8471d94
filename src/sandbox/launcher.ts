import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, closeSync, constants, mkdirSync, openSync, readSync, rmSync, statSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { DisposableStack } from '../lib/disposable-stack.ts';
import { hasCode } from '../lib/errors.ts';
import { processStartTime } from '../lib/process-identity.ts';
import { coverInherited } from './inherited-files.ts';
import type { LimitGroup } from './limits/limiter.ts';
import { stateOf } from './namespace-state.ts';
import { type OutputPipe, openPipe } from './output-pipe.ts';
import { childrenOf, descendantsOf, signalAll } from './process-tree.ts';
import type { Mount } from './sandbox.ts';
import {
  type CommandInLauncher,
  launcherGreeting,
  launcherLine,
  launcherPipes,
  launcherWords,
} from './shell.ts';
import type { Begun, CommandInput, Exit } from './supervisor.ts';

const startMs = 60_000;
const deathMs = 10_000;
const longestComplaint = 20_000;

/** A launcher, and at most three processes above it, each of which waits for the next. */
export const ownProcesses = 4;

export interface LauncherSpec {
  /** The launcher's own folder; created by the caller's process, below one that is closed to others. */
  folder: string;
  /** Joins the group, makes the pipes, and becomes the confined shell of `launcherCommand`. */
  command: readonly string[];
  /** What the command reads, as its open files from the fourth on. */
  files: readonly string[];
  /** Those that may be moved or replaced on the host while it lives. */
  mounts: readonly Mount[];
  group: LimitGroup;
}

/**
 * The first process of a sandbox's namespaces, a shell, which starts its commands one after the other. A command can't
 * touch it, although it has the same user: the kernel delivers no signal to it, and refuses to trace or open a process
 * whose program is unreadable. Of the launcher's files a command gets one or two pipes, which are opened anew each time
 * and only when no process of the previous command lives. When the launcher is killed, the kernel kills all others.
 */
export class Launcher {
  readonly group: LimitGroup;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #over: Promise<Exit>;
  #complaint = '';
  #own: number[] = [];
  #first: KnownProcess | null = null;
  readonly #mounts: readonly Mount[];
  /** When nothing had run in it. */
  #state: string | null = null;
  #begun = Promise.withResolvers<boolean>();
  #exit = Promise.withResolvers<Exit>();
  #isRunning = false;

  /** @throws Error saying why it could not be confined; nothing of it is left then */
  static async start(spec: LauncherSpec): Promise<Launcher> {
    mkdirSync(spec.folder);
    // Its user may open what is in it, but not list it.
    chmodSync(spec.folder, 0o711);
    const launcher = new Launcher(spec);
    try {
      await launcher.#waitUntilReady();
      return launcher;
    } catch (error) {
      await launcher.retire();
      throw error;
    }
  }

  private constructor({ folder, command, files, mounts, group }: LauncherSpec) {
    this.group = group;
    this.#mounts = mounts;
    this.#folder = folder;
    const [program = '', ...rest] = command;
    using opened = new DisposableStack();
    const open = (path: string) => opened.adopt(openSync(path, 'r'), closeSync);
    const covered = opened.use(coverInherited(['pipe', 'pipe', 'pipe', ...[folder, ...files].map(open)]));
    this.#child = spawn(program, rest, {
      stdio: covered.stdio,
      // Everything inside starts with an empty environment; this one is for the program that makes the pipes.
      env: { PATH: '/usr/bin:/bin' },
      cwd: folder,
      detached: true,
    });
    this.#child.stdin?.on('error', () => {});
    this.#child.stdin?.write(launcherGreeting);
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString()).slice(0, longestComplaint);
    });
    this.#over = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve({ code: null, signal: null, error }));
      this.#child.once('close', (code, signal) => resolve({ code, signal, error: null }));
    });
    // All processes that it had started ended with it.
    void this.#over.then(() => this.#ended({ code: null, signal: 'SIGKILL', error: null }));
  }

  /** Its id on the host. */
  get pid(): number {
    return this.#first?.pid ?? 0;
  }

  /** Host ids of the processes that do not belong to a command. */
  own(): readonly number[] {
    return this.#own;
  }

  /** Whether it is alive, and its mounts still show what is now at their sources: nothing was moved or replaced. */
  isIntact(): boolean {
    return this.#mounts.every(({ source, target }) => isSameFile(source, `/proc/${this.pid}/root${target}`));
  }

  /** Whether it is alive, and, after its command has ended, all is in its namespaces as it was at its beginning. */
  isClean(): boolean {
    return this.#state !== null && stateOf(this.pid) === this.#state;
  }

  /**
   * Starts a command; resolves when its process is there.
   * @throws Error saying why it did not; the launcher is then no longer usable
   */
  async begin(command: CommandInLauncher): Promise<Begun> {
    using opened = new DisposableStack();
    const input = command.readsPipe ? opened.adopt(this.#openInput(), (socket) => socket.destroy()) : null;
    const output = opened.adopt(openPipe(join(this.#folder, launcherPipes.output)), closePipe);
    this.#begun = Promise.withResolvers();
    this.#exit = Promise.withResolvers();
    this.#isRunning = true;
    this.#child.stdin?.write(launcherLine(command));
    const late = setTimeout(() => void this.#kill(), startMs);
    const hasBegun = await this.#begun.promise;
    clearTimeout(late);
    if (!hasBegun) {
      // Until its complaint was read.
      await this.#kill();
      throw new Error(this.#reason(await this.#exit.promise));
    }
    opened.move();
    output.closeWriteEnd();
    return {
      output: output.reader,
      input: input === null ? null : inputThrough(input),
      exited: this.#exit.promise,
    };
  }

  /** Resolves when no process of the command lives; the launcher dies with those that the command left. */
  async endCommand(): Promise<void> {
    if (this.#isRunning || this.#hasStarted()) await this.#kill();
  }

  /** Kills it and everything it started; resolves when nothing of it is left. */
  async retire(): Promise<void> {
    await this.#kill();
    await this.group.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #kill(): Promise<void> {
    if (this.#first !== null && this.#isAlive()) signalAll([this.#first.pid], 'SIGKILL');
    else this.#child.kill('SIGKILL');
    const late = new AbortController();
    const killed = sleep(deathMs, undefined, { signal: late.signal, ref: false }).catch(() => {});
    await Promise.race([this.#over, killed]);
    late.abort();
    this.#child.kill('SIGKILL');
  }

  async #waitUntilReady(): Promise<void> {
    const { pid, stdout } = this.#child;
    if (stdout !== null) {
      const ready = Promise.withResolvers<void>();
      createInterface({ input: stdout }).on('line', (line) => {
        if (line === launcherWords.ready) ready.resolve();
        else if (line === launcherWords.begun) this.#begun.resolve(true);
        else this.#ended({ code: Number(line), signal: null, error: null });
      });
      await Promise.race([
        ready.promise,
        this.#over.then((exit) => Promise.reject(new Error(this.#reason(exit)))),
      ]);
    }
    this.#own = pid === undefined ? [] : [pid, ...descendantsOf(pid, ownProcesses)];
    this.#first = known(this.#own.at(-1));
    if (this.#first === null) throw new Error('its processes cannot be identified');
    this.#state = stateOf(this.pid);
  }

  #openInput(): Socket {
    const path = join(this.#folder, launcherPipes.input);
    // A process of the same user could have changed its permissions.
    chmodSync(path, 0o666);
    // Also for reading, so that opening does not block.
    const fd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    drain(fd);
    const input = new Socket({ fd, readable: false, writable: true });
    // A program that does not read its input is not our error.
    input.on('error', () => {});
    return input;
  }

  #ended(exit: Exit): void {
    this.#isRunning = false;
    this.#begun.resolve(false);
    this.#exit.resolve(exit);
  }

  /** Whether a process of a command is left; orphans become the launcher's children. */
  #hasStarted(): boolean {
    return childrenOf(this.pid).length > 0;
  }

  #isAlive(): boolean {
    return this.#first !== null && processStartTime(this.#first.pid) === this.#first.started;
  }

  #reason({ code, signal, error }: Exit): string {
    const said = this.#complaint.trim();
    return said !== '' ? said : (error?.message ?? `it ended with ${code ?? signal} before it began`);
  }
}

/** A process, distinguishable from a later one with the same id. */
interface KnownProcess {
  pid: number;
  started: string;
}

function known(pid: number | undefined): KnownProcess | null {
  const started = pid === undefined ? null : processStartTime(pid);
  return pid === undefined || started === null ? null : { pid, started };
}

function isSameFile(first: string, second: string): boolean {
  try {
    const [one, other] = [statSync(first), statSync(second)];
    return one.ino === other.ino && one.dev === other.dev;
  } catch {
    return false;
  }
}

/** The kernel may still keep what the previous command left unread: a pipe that was in transit is closed late. */
function drain(fd: number): void {
  const buffer = Buffer.alloc(65_536);
  try {
    while (readSync(fd, buffer) > 0);
  } catch (error) {
    if (hasCode(error, 'EAGAIN')) return;
    closeSync(fd);
    throw error;
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
    discard: () => void socket.destroy(),
  };
}

function closePipe(pipe: OutputPipe): void {
  pipe.closeWriteEnd();
  pipe.reader.destroy();
}
