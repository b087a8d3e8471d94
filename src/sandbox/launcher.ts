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
import { stateOf } from './namespace-state.ts';
import { type OutputPipe, openPipe } from './output-pipe.ts';
import { childrenOf, descendantsOf, signalAll } from './process-tree.ts';
import { launcherPipes } from './shell.ts';
import { waitForMarker } from './start-marker.ts';
import type { Begun, CommandInput, Exit } from './supervisor.ts';

const deathMs = 10_000;
const longestComplaint = 20_000;

/** A launcher, and at most three processes above it, each of which waits for the next. */
export const ownProcesses = 4;

export interface LauncherSpec {
  /** The launcher's own folder; created by the caller's process, below one that is closed to others. */
  folder: string;
  /** Joins the group, makes the pipes, and becomes the confined loop of `launcherCommand`. */
  command: readonly string[];
  /** What the command reads, as its open files from the fourth on. */
  files: readonly string[];
  group: LimitGroup;
}

/**
 * The first process of a sandbox's namespaces, a shell, which starts its commands one after the other. A command can't
 * touch it, although it has the same user: the kernel delivers no signal to it, and refuses to trace or open a process
 * whose program is unreadable. Of the launcher's files a command gets three pipes, which are opened anew each time and
 * only when no process of the previous command lives. When the launcher is killed, the kernel kills all others.
 */
export class Launcher {
  readonly group: LimitGroup;
  readonly #folder: string;
  readonly #child: ChildProcess;
  readonly #over: Promise<Exit>;
  #complaint = '';
  #own: number[] = [];
  #first: KnownProcess | null = null;
  /** When nothing had run in it. */
  #mounts = '';
  #state: string | null = null;
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

  private constructor({ folder, command, files, group }: LauncherSpec) {
    this.group = group;
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

  /**
   * Whether it is alive, and its mounts are the same as at its beginning: nothing was moved, removed or mounted since.
   */
  isIntact(): boolean {
    return this.#isAlive() && mountsOf(this.pid) === this.#mounts;
  }

  /** Whether it is alive, and all is in its namespaces as it was at its beginning. */
  isClean(): boolean {
    if (!this.#isAlive() || this.#isRunning || this.#hasStarted()) return false;
    return this.#state !== null && stateOf(this.pid) === this.#state;
  }

  /**
   * Becomes a command by a script; resolves when the script has printed the marker.
   * @throws Error saying why it did not; the launcher is then no longer usable
   */
  async begin(script: string, marker: string, readsPipe: boolean): Promise<Begun> {
    const pipes = this.#openPipes();
    this.#exit = Promise.withResolvers();
    this.#isRunning = true;
    this.#child.stdin?.write('\n');
    const { input, output, said } = pipes;
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
      const up = Promise.withResolvers<void>();
      const lines = createInterface({ input: stdout });
      lines.on('line', (line) => {
        if (line === 'up') up.resolve();
        else this.#ended({ code: Number(line), signal: null, error: null });
      });
      await Promise.race([
        up.promise,
        this.#over.then((exit) => Promise.reject(new Error(this.#reason(exit)))),
      ]);
    }
    this.#own = pid === undefined ? [] : [pid, ...descendantsOf(pid, ownProcesses)];
    this.#first = known(this.#own.at(-1));
    if (this.#first === null) throw new Error('its processes cannot be identified');
    this.#mounts = mountsOf(this.pid);
    this.#state = stateOf(this.pid);
  }

  #openPipes(): { input: Socket; output: OutputPipe; said: OutputPipe } {
    using opened = new DisposableStack();
    const path = (name: string) => join(this.#folder, name);
    const script = path(launcherPipes.script);
    // A process of the same user could have changed its permissions.
    chmodSync(script, 0o666);
    // Also for reading, so that opening does not block.
    const scriptFile = opened.adopt(openSync(script, constants.O_RDWR | constants.O_NONBLOCK), closeSync);
    const output = opened.adopt(openPipe(path(launcherPipes.output)), closePipe);
    const said = openPipe(path(launcherPipes.said));
    opened.move();
    const input = new Socket({ fd: scriptFile, readable: false, writable: true });
    // A program that does not read its input is not our error.
    input.on('error', () => {});
    return { input, output, said };
  }

  #ended(exit: Exit): void {
    this.#isRunning = false;
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

function mountsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'latin1');
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
