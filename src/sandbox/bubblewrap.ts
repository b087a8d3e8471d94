import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { messageOf } from '../lib/errors.ts';
import { asUser, findUserSwitch, prepareFor, userWithoutAccount } from './agent-user.ts';
import {
  type BubblewrapFeatures,
  commandArguments,
  launcherArguments,
  wholeArguments,
} from './bubblewrap-arguments.ts';
import { confinedSandbox } from './confined-sandbox.ts';
import { findProgram } from './find-program.ts';
import { watchedFolder } from './folder-watch.ts';
import { LaunchedCommand } from './launched-command.ts';
import { Launchers } from './launchers.ts';
import { type Limiter, ungrouped } from './limits/limiter.ts';
import { planMounts } from './mount-plan.ts';
import { checkMountTargets, hostPathOf } from './mount-targets.ts';
import { canNest, dyingWithParent } from './nesting.ts';
import { realPath } from './paths.ts';
import { RuntimeFolder } from './runtime-folder.ts';
import { type Mount, type Sandbox, SandboxError, type SandboxSpec } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';

export const installHint = 'sudo apt-get install bubblewrap';

/** @throws SandboxError if bubblewrap is missing; whether it can confine for this user shows at the first command. */
export async function bubblewrapSandbox(
  spec: SandboxSpec,
  limiter: Limiter,
  options: { nested?: boolean } = {},
): Promise<Sandbox> {
  const program = findProgram('bwrap');
  if (program === null) throw new SandboxError('bubblewrap (bwrap) is not installed', installHint);
  const setpriv = await findUserSwitch(program);
  const user = setpriv === null ? null : userWithoutAccount(spec);
  const features = { ...(await featuresOf(program)), switchesUser: user !== null };
  const runtime = new RuntimeFolder(user ?? undefined);
  try {
    if (user !== null) await prepareFor(user, spec);
    const filter = seccompFilter(process.arch, { countsAllMemory: limiter !== ungrouped });
    const shown = withProgram(program, await planMounts(spec, 'host', runtime));
    if (filter !== null) runtime.write('filter', filter);
    const become = setpriv === null || user === null ? [] : asUser(setpriv, user);
    const filtered = filter === null ? [] : ['--seccomp', '5'];
    const rest = ['--', ...become, '/bin/sh'];
    const isNested = options.nested ?? (await canNest(program, user !== null));
    const whole = isNested ? launcherArguments : wholeArguments;
    const launchers = new Launchers({
      ...{ folder: runtime.path, limiter, limits: spec.limits, gpu: (spec.gpus ?? []).length > 0, isNested },
      files: new Map([
        ...(isNested ? [] : [[4, 'arguments'] as const]),
        ...(filter === null ? [] : [[5, 'filter'] as const]),
      ]),
      argumentFile: runtime.write('arguments', nulSeparated(whole(spec, shown, features))),
      confineLauncher: isNested ? [program, '--args', '4', '--'] : dyingWithParent(),
      confineShell: isNested
        ? [program, ...filtered, ...commandArguments(spec, shown, features), ...rest]
        : [program, '--args', '4', ...filtered, ...rest],
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

/** Commands are confined from inside, so bubblewrap itself must be visible there. */
function withProgram(program: string, mounts: readonly Mount[]): Mount[] {
  const real = realPath(program) ?? program;
  const isSeen = hostPathOf(program, mounts) === real;
  return isSeen ? [...mounts] : [...mounts, { source: real, target: program, access: 'read' }];
}

function nulSeparated(values: readonly string[]): string {
  return values.map((value) => `${value}\0`).join('');
}
