import { release } from 'node:os';
import { messageOf } from '../lib/errors.ts';
import { signalName } from './exit-signal.ts';
import type { WatchedFolder } from './folder-watch.ts';
import type { Launcher } from './launcher.ts';
import { type Launchers, notStarted } from './launchers.ts';
import { descendantsOf, signalAll } from './process-tree.ts';
import type { SandboxSpec, StartOptions } from './sandbox.ts';
import type { Begun, CommandRun } from './supervisor.ts';

/** The launcher, and the process that becomes the command. */
const ownProcesses = 2;

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
    // Meanwhile it may have been killed, for example to free memory of the host, or an earlier command lowered its
    // limits.
    for (let attempt = 1; ; attempt++) {
      const launcher = attempt === 1 ? await launchers.take() : await launchers.make();
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

  /** If anything of it lives, the launcher is killed, and the kernel kills everything in its namespace with it. */
  async destroy(): Promise<void> {
    await this.#launcher?.endCommand();
  }

  async usage() {
    return this.#launcher?.group.usage() ?? null;
  }

  /** The launcher is a shell, which reports a signal as 128 plus its number. */
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
    const limitsProcesses = !isGrouped && (switchesUser || countsProcessesByNamespace());
    const begun = await launcher.begin({
      argv: this.#argv,
      folder: options.workingDirectory ?? spec.workingDirectory,
      processes: limitsProcesses ? spec.limits.processes + ownProcesses : null,
      readsPipe: options.stdin === 'pipe',
    });
    this.#launcher = launcher;
    return begun;
  }

  /** All processes of the namespace but the launcher, which ignores SIGTERM. */
  #inside(): number[] {
    if (this.#launcher === null) return [];
    const own = this.#launcher.own();
    const members = this.#launcher.group.members();
    if (members.length === 0) return descendantsOf(this.#launcher.pid, this.#most);
    return members.filter((pid) => !own.includes(pid));
  }
}

/** Since Linux 5.14; before, the limit would count all processes of this user on the host. */
function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = release()
    .split('.')
    .map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}
