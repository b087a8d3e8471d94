import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { launcherRights } from './bubblewrap-arguments.ts';
import { findProgram } from './find-program.ts';
import { SandboxError } from './sandbox.ts';

const tried = new Map<string, Promise<boolean>>();

/**
 * Whether a process confined by bubblewrap can confine others with bubblewrap: not if it is a setuid program, or if
 * AppArmor removes all rights from its children (Ubuntu's profile `bwrap-userns-restrict`). Tried once.
 */
export function canNest(program: string, switchesUser: boolean): Promise<boolean> {
  const known = tried.get(program) ?? tryNesting(program, switchesUser);
  tried.set(program, known);
  return known;
}

async function tryNesting(program: string, switchesUser: boolean): Promise<boolean> {
  const all = ['--unshare-pid', '--unshare-net', '--unshare-ipc'];
  const outer = [
    ...all,
    '--as-pid-1',
    ...launcherRights(switchesUser),
    '--ro-bind',
    '/',
    '/',
    '--proc',
    '/proc',
  ];
  const user = switchesUser ? [] : ['--unshare-user', '--uid', '1000'];
  const inner = [...all, ...user, '--cap-drop', 'ALL', '--bind', '/', '/', '--proc', '/proc'];
  try {
    await promisify(execFile)(program, [...outer, '--', program, ...inner, '--', 'true'], {
      env: { PATH: '/usr/bin:/bin' },
    });
    return true;
  } catch {
    return false;
  }
}

/** The command by which another one ends with the process that started it. */
export function dyingWithParent(): string[] {
  const setpriv = findProgram('setpriv');
  if (setpriv === null)
    throw new SandboxError(
      'setpriv is not installed, without which commands could outlive mlab',
      'install util-linux',
    );
  return [setpriv, '--pdeathsig', 'KILL', '--'];
}
