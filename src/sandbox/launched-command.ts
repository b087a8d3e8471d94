import { release } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../lib/errors.ts';
import { processStartTime } from '../lib/process-identity.ts';
import { signalName } from './exit-signal.ts';
import type { WatchedFolder } from './folder-watch.ts';
import type { KnownProcess, Launcher } from './launcher.ts';
import { type Launchers, notStarted } from './launchers.ts';
import { descendantsOf, signalAll } from './process-tree.ts';
import type { SandboxSpec, StartOptions } from './sandbox.ts';
import { commandScript } from './shell.ts';
import { newMarker } from './start-marker.ts';
import type { Begun, CommandRun } from './supervisor.ts';

/** The first process of the namespace, and the shell that becomes the command. */
const ownProcesses = 2;
const deathMs = 10_000;

export interface LaunchContext {
  spec: SandboxSpec;
  launchers: Launchers;
  folder: WatchedFolder | null;
  /** Whether control groups limit its memory and processes. */
  isGrouped: boolean;
  /** Whether root runs the command as another user. */
  switchesUser: boolean;
}

/** A command that a launcher starts. */
export class LaunchedCommand implements CommandRun {
  readonly watch: CommandRun['watch'];
  readonly #context: LaunchContext;
  readonly #argv: readonly string[];
  /** Enough to detect that there are too many. */
  readonly #most: number;
  #launcher: Launcher | null = null;
  #first: KnownProcess | null = null;
  #own: ReadonlySet<number> = new Set();
  #hasEnded = true;

  constructor(context: LaunchContext, argv: readonly string[]) {
    const { spec, isGrouped } = context;
    this.#context = context;
    this.#argv = argv;
    this.#most = (spec.limits.processes + ownProcesses) * 2;
    this.watch = {
      processes: () => this.#inside(),
      folder: context.folder,
      sums: isGrouped
        ? null
        : { memoryBytes: spec.limits.memoryBytes, processes: spec.limits.processes, isApart: true },
      ...(isGrouped ? { netlinkBytes: spec.limits.memoryBytes } : {}),
    };
  }

  async begin(options: StartOptions): Promise<Begun> {
    const { launchers } = this.#context;
    // A launcher that has waited for long may have been killed meanwhile, for example to free memory of the host.
    for (let attempt = 1; ; attempt++) {
      const launcher = await launchers.take();
      try {
        return await this.#beginIn(launcher, options);
      } catch (error) {
        await launchers.retire(launcher);
        if (attempt === 2) throw notStarted(messageOf(error));
      }
    }
  }

  terminate(): void {
    signalAll(this.#inside(), 'SIGTERM');
  }

  /**
   * Only the first process is killed: the kernel kills the others with it, and the waiting process on the launcher's
   * side ends by itself.
   */
  async destroy(): Promise<void> {
    const first = this.#first;
    if (first === null) return;
    const deadline = performance.now() + deathMs;
    for (let pause = 1; performance.now() < deadline; pause = Math.min(pause * 2, 50)) {
      const lives = processStartTime(first.pid) === first.started;
      if (!lives && this.#hasEnded) return;
      if (lives) signalAll([first.pid], 'SIGKILL');
      await sleep(pause);
    }
    await this.#launcher?.retire();
  }

  async usage() {
    return this.#launcher?.group.usage() ?? null;
  }

  /** Bubblewrap reports a signal as 128 plus its number, like a shell. */
  async translate(exitCode: number | null, signal: string | null) {
    const name = exitCode === null || exitCode <= 128 ? null : signalName(exitCode - 128);
    return name === null ? { exitCode, signal } : { exitCode: null, signal: name };
  }

  async release(): Promise<void> {
    const launcher = this.#launcher;
    this.#launcher = null;
    if (launcher !== null) await this.#context.launchers.giveBack(launcher);
  }

  async #beginIn(launcher: Launcher, options: StartOptions): Promise<Begun> {
    const { spec, isGrouped, switchesUser } = this.#context;
    const marker = newMarker();
    const readsPipe = options.stdin === 'pipe';
    const limitsProcesses = !isGrouped && (switchesUser || countsProcessesByNamespace());
    const script = commandScript({
      marker,
      argv: this.#argv,
      folder: options.workingDirectory ?? spec.workingDirectory,
      processes: limitsProcesses ? spec.limits.processes + ownProcesses : null,
      readsPipe,
    });
    const begun = await launcher.begin(script, marker, readsPipe);
    this.#launcher = launcher;
    this.#own = launcher.own();
    this.#first = launcher.first();
    this.#hasEnded = false;
    void begun.exited.then(() => {
      this.#hasEnded = true;
    });
    return begun;
  }

  /** All processes of the namespace but the first, which only waits and ignores SIGTERM. */
  #inside(): number[] {
    if (this.#first === null) return [];
    const members = this.#launcher?.group.members() ?? [];
    if (members.length === 0) return descendantsOf(this.#first.pid, this.#most);
    return members.filter((pid) => !this.#own.has(pid));
  }
}

/** Since Linux 5.14; before, the limit would count all processes of this user on the host. */
function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}
