import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Leftover processes die with their harness, but not in the same instant. */
const maxWaitMs = 5_000;

/** Processes that use a folder, after dying ones had time to end. */
export async function processesLeft(folder: string): Promise<string[]> {
  for (const until = performance.now() + maxWaitMs; ; ) {
    const left = processesOf(folder);
    if (left.length === 0 || performance.now() > until) return left;
    await sleep(20);
  }
}

/** Mounts and loop devices beneath a folder. */
export function mountsLeft(folder: string): string[] {
  const mounts = linesOf('/proc/self/mountinfo').filter((line) => line.includes(` ${folder}/`));
  const loops = namesIn('/sys/block')
    .filter((name) => name.startsWith('loop'))
    .filter((name) => readOrNothing(`/sys/block/${name}/loop/backing_file`).startsWith(`${folder}/`));
  return [...mounts.map((line) => `mount ${line}`), ...loops.map((name) => `loop device ${name}`)];
}

/** Control groups of processes by their ids. */
export function groupsLeft(pids: ReadonlySet<number>): string[] {
  const isTheirs = (name: string) => {
    const owner = /^mlab-[0-9a-z]+-[0-9a-f]+-\d+-(\d+)-\d+-/.exec(name)?.[1];
    return owner !== undefined && pids.has(Number(owner));
  };
  return groupFolders('/sys/fs/cgroup', 0).filter((path) => isTheirs(path.split('/').at(-1) ?? ''));
}

/** The files and folders of a run; leases have new numbers with each process. */
export function filesOf(run: string): string[] {
  return readdirSync(run, { recursive: true }).map((name) => String(name).replace(/^lease\/\d+$/, 'lease/…'));
}

function processesOf(folder: string): string[] {
  // The host's own processes see what is mounted for a run; those of a sandbox have their own namespace.
  const host = [process.pid, 1].map((id) => readLink(`/proc/${id}/ns/mnt`));
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((id) => {
      if (readOrNothing(`/proc/${id}/cmdline`).includes(`${folder}/`)) return true;
      if (readLink(`/proc/${id}/cwd`).startsWith(`${folder}/`)) return true;
      const namespace = readLink(`/proc/${id}/ns/mnt`);
      return !host.includes(namespace) && readOrNothing(`/proc/${id}/mountinfo`).includes(`${folder}/`);
    })
    .map((id) => `process ${id}: ${readOrNothing(`/proc/${id}/cmdline`).replaceAll('\0', ' ')}`);
}

function groupFolders(folder: string, depth: number): string[] {
  if (depth > 6) return [];
  const inner = readdirQuietly(folder).map((name) => join(folder, name));
  return [...inner, ...inner.flatMap((path) => groupFolders(path, depth + 1))];
}

function readdirQuietly(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function linesOf(path: string): string[] {
  return readOrNothing(path).split('\n');
}

/** A process may end while it is examined. */
function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
