import { join } from 'node:path';
import { messageOf } from '../lib/errors.ts';
import { Launcher, ownProcesses } from './launcher.ts';
import type { Limiter } from './limits/limiter.ts';
import { type Mount, SandboxError, type SandboxLimits } from './sandbox.ts';
import { makeLauncherPipes, outerCommand, toBeKilledFirst } from './shell.ts';
import { userNamespaceHint } from './user-namespaces.ts';
import type { MountView } from './volume-keeper.ts';
import { mountsWithoutOthers } from './workspace-volume.ts';

/** A single process may allocate this many times the limit before it is refused: the watchdog enforces the sum. */
const dataFactor = 2;

export interface LaunchersSpec {
  /** Closed to others. */
  folder: string;
  limiter: Limiter;
  limits: SandboxLimits;
  gpu: boolean;
  /** Becomes a launcher. */
  command: readonly string[];
  /** What that reads, as its open files from the fourth on. */
  files: readonly string[];
  /** Those that may be moved or replaced on the host while the sandbox lives. */
  mounts: readonly Mount[];
  /** Whether it may enter other mount namespaces. */
  mayEnter: boolean;
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
    return this.make();
  }

  /** When its command has ended. It serves the next one, unless something of this one is left. */
  async giveBack(launcher: Launcher): Promise<void> {
    if (!launcher.isClean() || !launcher.group.renew()) return this.retire(launcher);
    this.#idle.push(launcher);
  }

  async retire(launcher: Launcher): Promise<void> {
    this.#all.delete(launcher);
    await launcher.retire();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#all].map((launcher) => this.retire(launcher)));
  }

  /** @throws SandboxError if it can't be made */
  async make(): Promise<Launcher> {
    const { limiter, limits, gpu, files, mounts, mayEnter } = this.#spec;
    const group = limiter.open({ ...limits, processes: limits.processes + ownProcesses });
    const isGrouped = group.joinFiles.length > 0;
    const dataBytes = isGrouped || gpu ? null : limits.memoryBytes * dataFactor;
    const before = [makeLauncherPipes, toBeKilledFirst];
    try {
      using view = mayEnter ? await mountsWithoutOthers(mounts.map(({ source }) => source)) : null;
      const inside = [...enter(view), ...this.#spec.command];
      const command = outerCommand(group.joinFiles, limits, dataBytes, inside, before);
      const folder = join(this.#spec.folder, `launcher-${this.#made++}`);
      const launcher = await Launcher.start({ folder, command, files, mounts, group });
      this.#all.add(launcher);
      return launcher;
    } catch (error) {
      await group.close();
      throw notStarted(messageOf(error));
    }
  }
}

function enter(view: MountView | null): string[] {
  return view === null ? [] : ['nsenter', `--mount=${view.path}`, '--'];
}

export function notStarted(message: string): SandboxError {
  const reason = message.replace(/^bwrap: /gm, '');
  return new SandboxError(
    `bubblewrap could not start the sandbox: ${reason}`,
    limitHint(reason) ?? userNamespaceHint(reason),
  );
}

/** What to do about a shell's own limits, which the sandbox inherits; null for another reason. */
function limitHint(reason: string): string | null {
  if (/spawn EINVAL|spawn EMFILE/.test(reason))
    return 'too few files may be open (ulimit -n): allow 256 or more';
  return /ulimit: error setting limit/.test(reason)
    ? 'limits of this shell are lower than those of the run: see ulimit -a, and raise them, such as file size (ulimit -f)'
    : null;
}
