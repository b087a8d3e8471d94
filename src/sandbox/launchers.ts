import { join } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { Launcher } from './launcher.ts';
import type { Limiter } from './limits/limiter.ts';
import { SandboxError, type SandboxLimits } from './sandbox.ts';
import { launcherCommand, makeLauncherPipes, outerCommand } from './shell.ts';
import { userNamespaceHint } from './user-namespaces.ts';

/** The monitors and first processes of a launcher and of what it starts. */
const ownProcesses = 4;
/** A single process may allocate this many times the limit before it is refused: the watchdog enforces the sum. */
const dataFactor = 2;

export interface LaunchersSpec {
  /** Closed to others. */
  folder: string;
  limiter: Limiter;
  limits: SandboxLimits;
  gpu: boolean;
  /** Whether a launcher itself is confined. Otherwise each command is confined from the beginning. */
  isNested: boolean;
  /** The command that becomes a launcher; the arguments are open as its fourth file. */
  confineLauncher: readonly string[];
  argumentFile: string;
  /** The command that confines a shell in it. */
  confineShell: readonly string[];
  /** See `launcherCommand`. */
  files: ReadonlyMap<number, string>;
}

/** The launchers of a sandbox: as many as there were concurrent commands. The first is made for the first command. */
export class Launchers implements AsyncDisposable {
  readonly #spec: LaunchersSpec;
  readonly #idle: Launcher[] = [];
  readonly #all = new Set<Launcher>();
  #made = 0;

  constructor(spec: LaunchersSpec) {
    this.#spec = spec;
  }

  /**
   * A free launcher with intact mounts.
   * @throws SandboxError if none can be made
   */
  async take(): Promise<Launcher> {
    for (let launcher = this.#idle.pop(); launcher !== undefined; launcher = this.#idle.pop()) {
      if (launcher.isIntact()) return launcher;
      await this.retire(launcher);
    }
    return this.#make();
  }

  /**
   * Called when no process of its command lives. It serves the next command, unless something of the last one is left.
   */
  async giveBack(launcher: Launcher): Promise<void> {
    const own = launcher.own();
    const isClean = launcher.group.members().every((pid) => own.has(pid));
    if (!isClean || !launcher.group.renew() || !launcher.isAlive()) return this.retire(launcher);
    if (this.#spec.isNested) launcher.prepare();
    this.#idle.push(launcher);
  }

  async retire(launcher: Launcher): Promise<void> {
    this.#all.delete(launcher);
    await launcher.retire();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all].map((launcher) => this.retire(launcher)));
  }

  async #make(): Promise<Launcher> {
    const { limiter, limits, gpu, argumentFile, isNested } = this.#spec;
    const processes = limits.processes + ownProcesses;
    const group = limiter.open({ ...limits, processes });
    const isGrouped = group.joinFiles.length > 0;
    const dataBytes = isGrouped || gpu ? null : limits.memoryBytes * dataFactor;
    const confined = [
      ...this.#spec.confineLauncher,
      ...launcherCommand(this.#spec.confineShell, this.#spec.files),
    ];
    const command = outerCommand(group.joinFiles, limits, dataBytes, confined, [makeLauncherPipes]);
    try {
      const folder = join(this.#spec.folder, `launcher-${this.#made++}`);
      const launcher = await Launcher.start({ folder, command, argumentFile, group, isNested });
      this.#all.add(launcher);
      return launcher;
    } catch (error) {
      await group.close();
      throw notStarted(messageOf(error));
    }
  }
}

export function notStarted(message: string): SandboxError {
  const reason = message.replace(/^bwrap: /gm, '');
  return new SandboxError(`bubblewrap could not start the sandbox: ${reason}`, userNamespaceHint(reason));
}
