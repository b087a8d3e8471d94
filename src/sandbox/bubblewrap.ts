import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../lib/errors.ts';
import { asUser, findUserSwitch, prepareFor, userWithoutAccount } from './agent-user.ts';
import { type BubblewrapFeatures, launcherShell, sandboxArguments } from './bubblewrap-arguments.ts';
import { confinedSandbox } from './confined-sandbox.ts';
import { findProgram } from './find-program.ts';
import { watchedFolder } from './folder-watch.ts';
import { LaunchedCommand } from './launched-command.ts';
import { Launchers } from './launchers.ts';
import { type Limiter, ungrouped } from './limits/limiter.ts';
import { planMounts } from './mount-plan.ts';
import { checkMountTargets } from './mount-targets.ts';
import { RuntimeFolder } from './runtime-folder.ts';
import { type Sandbox, SandboxError, type SandboxSpec } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { launcherCommand } from './shell.ts';
import { isOfSystem } from './system-folders.ts';

/** What a launcher reads, by its open files; see `LaunchersSpec`. */
const open = { arguments: 4, shell: 5, filter: 6 } as const;

export const installHint = 'sudo apt-get install bubblewrap';

/** @throws SandboxError if bubblewrap is missing; whether it can confine for this user shows at the first command. */
export async function bubblewrapSandbox(spec: SandboxSpec, limiter: Limiter): Promise<Sandbox> {
  const program = findProgram('bwrap');
  if (program === null) throw new SandboxError('bubblewrap (bwrap) is not installed', installHint);
  const setpriv = await findUserSwitch(program);
  const user = setpriv === null ? null : userWithoutAccount(spec);
  const features = { ...(await featuresOf(program)), switchesUser: user !== null };
  const runtime = new RuntimeFolder(user ?? undefined);
  try {
    if (user !== null) await prepareFor(user, spec);
    const filter = seccompFilter(process.arch, { countsAllMemory: limiter !== ungrouped });
    const mounts = await planMounts(spec, 'host', runtime);
    const arguments_ = sandboxArguments(spec, mounts, features, open.shell);
    const files = [runtime.write('arguments', nulSeparated(arguments_)), '/bin/sh'];
    if (filter !== null) files.push(runtime.write('filter', filter));
    const launchers = new Launchers({
      ...{ folder: runtime.path, limiter, limits: spec.limits, gpu: (spec.gpus ?? []).length > 0, files },
      mounts: mounts.filter(({ target }) => !isOfSystem(target)),
      mayEnter: user !== null,
      command: [
        ...(setpriv === null || user === null ? [] : endingWithParent(setpriv)),
        ...[program, '--args', String(open.arguments)],
        ...(filter === null ? [] : ['--seccomp', String(open.filter)]),
        ...['--', ...(setpriv === null || user === null ? [] : asUser(setpriv, user))],
        ...launcherCommand(launcherShell),
      ],
    });
    const isGrouped = limiter !== ungrouped;
    const context = {
      spec,
      launchers,
      folder: watchedFolder(spec.watch),
      isGrouped,
      switchesUser: user !== null,
    };
    return confinedSandbox({
      driver: 'bubblewrap',
      runtime,
      pathInside: (target) => target,
      prepare: (argv) => {
        checkMountTargets(spec.mounts);
        return new LaunchedCommand(context, argv);
      },
      dispose: () => launchers[Symbol.asyncDispose](),
    });
  } catch (error) {
    runtime[Symbol.dispose]();
    throw error;
  }
}

/**
 * The command by which root starts another one with whose parent the kernel ends everything that it starts, whatever
 * its user: bubblewrap itself may not end another user's processes.
 */
function endingWithParent(setpriv: string): string[] {
  return [setpriv, '--pdeathsig', 'KILL', '--', 'unshare', '--pid', '--fork', '--kill-child', '--'];
}

type ProgramFeatures = Pick<BubblewrapFeatures, 'disableUserNamespaces'>;
const knownFeatures = new Map<string, Promise<ProgramFeatures>>();

/** Determined once per program. */
function featuresOf(program: string): Promise<ProgramFeatures> {
  const features = knownFeatures.get(program) ?? askFeatures(program);
  knownFeatures.set(program, features);
  features.catch(() => knownFeatures.delete(program));
  return features;
}

async function askFeatures(program: string): Promise<ProgramFeatures> {
  try {
    const { stdout } = await promisify(execFile)(program, ['--help'], { env: {} });
    return { disableUserNamespaces: stdout.includes('--disable-userns') };
  } catch (error) {
    throw new SandboxError(`bubblewrap does not run: ${messageOf(error)}`, installHint, { cause: error });
  }
}

function nulSeparated(values: readonly string[]): string {
  return values.map((value) => `${value}\0`).join('');
}
