import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Row } from './rows.ts';

/** Has no files, no rights and no control groups. */
const ordinary = 65534;

/**
 * Runs a program as the row's user, with or without control groups, and resolves with its exit code. Only root can
 * become another user, or remove or delegate groups: for other callers the program runs unchanged.
 * @param home a folder that the user may write to
 */
export async function startInRow(row: Row, argv: readonly string[], home: string): Promise<number | null> {
  if (process.getuid?.() !== 0) return start(argv, home);
  if (row.user === 'root') return start(row.groups === false ? withoutGroups(argv) : argv, home);
  chownSync(home, ordinary, ordinary);
  const user = ['setpriv', `--reuid=${ordinary}`, `--regid=${ordinary}`, '--clear-groups', ...argv];
  if (row.groups !== true) return start(row.groups === null ? user : withoutGroups(user), home);
  const groups = delegatedGroups();
  try {
    const join = groups.map((folder) => `echo $$ > '${folder}/cgroup.procs' &&`).join(' ');
    return await start(['sh', '-c', `${join} exec "$@"`, 'sh', ...user], home);
  } finally {
    for (const folder of groups) removeGroups(folder);
  }
}

/** If no groups are visible, none can be made. */
function withoutGroups(argv: readonly string[]): string[] {
  const script = 'umount --recursive /sys/fs/cgroup 2>/dev/null; exec "$@"';
  return ['unshare', '--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', ...argv];
}

/** Groups below this process's own that are delegated to the ordinary user. */
function delegatedGroups(): string[] {
  const name = `mlab-adversary-${randomBytes(4).toString('hex')}`;
  const folders: string[] = [];
  for (const line of readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n')) {
    const [, controllers = '', ...path] = line.split(':');
    const hierarchy = controllers === '' ? '' : (controllers.split(',')[0] ?? '');
    if (!['', 'memory', 'pids', 'cpuacct'].includes(hierarchy)) continue;
    const parent = join('/sys/fs/cgroup', hierarchy, ...path);
    if (!existsSync(join(parent, 'cgroup.procs'))) continue;
    const folder = join(parent, name);
    mkdirSync(folder);
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control', 'tasks']) {
      if (existsSync(join(folder, file))) chownSync(join(folder, file), ordinary, ordinary);
    }
    folders.push(folder);
  }
  return folders;
}

function removeGroups(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) removeGroups(join(folder, entry.name));
  }
  try {
    // An engine of the ordinary user leaves a process behind that holds its namespaces.
    const left = readFileSync(join(folder, 'cgroup.procs'), 'utf8').trim();
    for (const pid of left === '' ? [] : left.split('\n')) process.kill(Number(pid), 'SIGKILL');
    rmdirSync(folder);
  } catch {
    // A process in it has not quite ended yet; an empty group uses no resources.
  }
}

function start(argv: readonly string[], home: string): Promise<number | null> {
  const [program = '', ...rest] = argv;
  const variables = { PATH: process.env.PATH, HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: home };
  const child = spawn(program, rest, {
    cwd: home,
    env: { ...variables, CONTAINERS_CONF: process.env.CONTAINERS_CONF ?? engineSettings(home) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
}

/** Of podman's runtimes, only runc works on machines with both versions of control groups. */
function engineSettings(home: string): string | undefined {
  if (!['/usr/bin/runc', '/usr/sbin/runc'].some((path) => existsSync(path))) return undefined;
  const file = join(home, 'containers.conf');
  writeFileSync(file, '[engine]\nruntime = "runc"\n');
  return file;
}
