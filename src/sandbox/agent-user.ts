import { execFile } from 'node:child_process';
import { lchownSync, lstatSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { messageOf } from '../lib/errors.ts';
import { FolderHandle } from '../lib/folder-handle.ts';
import { sha256 } from '../lib/hash.ts';
import type { SandboxDriver } from '../schema/index.ts';
import { findProgram } from './find-program.ts';
import { isWithin, realPath } from './paths.ts';
import { checkReadable } from './readable-mounts.ts';
import { SandboxError, type SandboxSpec } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';

const runFile = promisify(execFile);

/** Ids without accounts: the range that systemd uses for services with dynamic users. */
const ids = { first: 61_184, last: 65_519 };
const chownMs = 120_000;
/** For fewer entries, starting a program takes longer than changing their owner. */
const smallEntries = 200;

/** The capabilities with which a sandbox's first process can make others another user, and nothing more. */
export const switchingCapabilities = ['CAP_SETUID', 'CAP_SETGID', 'CAP_SETPCAP'];

/** The user of a sandbox's processes, by its ids on the host. */
export interface AgentUser {
  uid: number;
  gid: number;
}

/** A user for a sandbox of root: the same for the same writable folder, so that it owns its files. */
export function userWithoutAccount(spec: SandboxSpec): AgentUser {
  const written = spec.mounts.filter(({ access }) => access === 'write');
  const [folder] = (written.length > 0 ? written : spec.mounts).map(({ source }) => source);
  return userOf(folder ?? '');
}

function userOf(folder: string): AgentUser {
  const count = ids.last - ids.first + 1;
  const id = ids.first + (Number.parseInt(sha256(realPath(folder) ?? '').slice(0, 8), 16) % count);
  return { uid: id, gid: id };
}

/**
 * Makes the user of a sandbox's processes the owner of a folder to which they will write, so that creating the sandbox
 * changes nothing in it.
 */
export async function giveToAgent(driver: SandboxDriver, folder: string): Promise<void> {
  const program = driver === 'bubblewrap' ? findProgram('bwrap') : null;
  const switches = program !== null && (await findUserSwitch(program)) !== null;
  const inContainer = driver === 'docker' && process.getuid?.() === 0;
  if (switches || inContainer) await giveFolders(userOf(folder), [folder]);
}

/**
 * The command by which a process that may change its ids becomes this user permanently, without any of root's rights.
 */
export function asUser(setpriv: string, { uid, gid }: AgentUser): string[] {
  return [
    ...[setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups'],
    ...['--inh-caps=-all', '--bounding-set=-all', '--no-new-privs', '--'],
  ];
}

const tried = new Map<string, Promise<string | null>>();

/**
 * Path of the `setpriv` with which root can start agent code as another user. Null for ordinary users, who don't need
 * it, and if it does not work, as in a container without rights. Tried once.
 */
export function findUserSwitch(bubblewrap: string): Promise<string | null> {
  const known = tried.get(bubblewrap) ?? tryUserSwitch(bubblewrap);
  tried.set(bubblewrap, known);
  return known;
}

async function tryUserSwitch(bubblewrap: string): Promise<string | null> {
  // Without its own user namespace, only the filter keeps a command from making one.
  if (process.getuid?.() !== 0 || seccompFilter() === null) return null;
  const setpriv = findProgram('setpriv');
  if (setpriv === null || !isWithin('/usr', realPath(setpriv) ?? '')) return null;
  const user = { uid: ids.first, gid: ids.first };
  const arguments_ = [
    ...['--unshare-pid', '--unshare-net', '--unshare-ipc', '--ro-bind', '/', '/', '--dev', '/dev'],
    ...['--proc', '/proc', '--cap-drop', 'ALL'],
    ...switchingCapabilities.flatMap((name) => ['--cap-add', name]),
    ...['--', ...asUser(setpriv, user), '/bin/cat', '/proc/self/status'],
  ];
  try {
    const { stdout } = await runFile(bubblewrap, arguments_, { env: {} });
    const isDropped =
      /^CapEff:\s*0+$/m.test(stdout) && new RegExp(`^Uid:\\s*${user.uid}\\s`, 'm').test(stdout);
    return isDropped ? setpriv : null;
  } catch {
    return null;
  }
}

/**
 * Gives the folders to which a sandbox writes, with all their contents, to its user. Links themselves are changed,
 * never their targets.
 * @throws SandboxError if a file system has no owners, or the user can't read something
 */
export async function prepareFor(user: AgentUser, spec: SandboxSpec): Promise<void> {
  checkReadable(spec);
  const folders = spec.mounts.filter(({ access }) => access === 'write').map(({ source }) => source);
  if (folders.length > 0) await giveFolders(user, folders);
}

/** Entries that belong to the user are left alone: even a change to the same owner changes the file's ctime. */
async function giveFolders(user: AgentUser, folders: readonly string[]): Promise<void> {
  const { uid, gid } = user;
  const large = folders.filter((folder) => !isGivenAsSmall(user, folder));
  if (large.length === 0) return;
  try {
    const others = ['(', '!', '-uid', String(uid), '-o', '!', '-gid', String(gid), ')'];
    const change = ['-exec', 'chown', '--no-dereference', `${uid}:${gid}`, '{}', '+'];
    await runFile('find', ['-P', ...large, ...others, ...change], {
      env: { PATH: '/usr/bin:/bin' },
      timeout: chownMs,
    });
  } catch (error) {
    throw new SandboxError(
      `the workspace can't be given to another user than root: ${messageOf(error)}`,
      'keep runs on a file system with owners, or run mlab as an ordinary user',
      { cause: error },
    );
  }
}

/**
 * Changes the owner of a folder with few entries without starting a program. False: the rest must be done by a program.
 */
function isGivenAsSmall(user: AgentUser, folder: string): boolean {
  try {
    give(user, lstatSync(folder), folder);
    using handle = FolderHandle.open(folder);
    return isGivenBelow(user, handle, { left: smallEntries });
  } catch {
    return false;
  }
}

function isGivenBelow(user: AgentUser, folder: FolderHandle, entries: { left: number }): boolean {
  for (const name of folder.eachName()) {
    if (entries.left-- === 0) return false;
    const stat = folder.stat(name);
    if (stat === undefined) continue;
    give(user, stat, folder.at(name));
    if (!stat.isDirectory()) continue;
    using below = folder.openFolder(name);
    if (!isGivenBelow(user, below, entries)) return false;
  }
  return true;
}

function give({ uid, gid }: AgentUser, stat: Stats, path: string | Buffer): void {
  if (stat.uid !== uid || stat.gid !== gid) lchownSync(path, uid, gid);
}
