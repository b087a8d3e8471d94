import { randomBytes } from 'node:crypto';
import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { ownedName } from '../owner.ts';
import type { SandboxLimits } from '../sandbox.ts';
import {
  type CgroupSetting,
  type Hierarchy,
  makeGroup,
  membersOf,
  readNumber,
  removeGroup,
  removeOrphans,
  trySetKnob,
} from './cgroup-files.ts';
import {
  type GroupUsage,
  type Limiter,
  type LimitGroup,
  maxLeft,
  nothingUsed,
  usageSince,
} from './limiter.ts';

const nanosecond = 1e-9;

interface Folders {
  memory: string;
  pids: string;
  cpuacct: string | null;
}

/** Groups below this process's own in each old hierarchy; null if they can't be made. */
export async function cgroupV1(found: readonly Hierarchy[]): Promise<Limiter | null> {
  const folderOf = (controller: string) =>
    found.find(({ version, controllers }) => version === 1 && controllers.includes(controller))?.folder ??
    null;
  const memory = folderOf('memory');
  const pids = folderOf('pids');
  if (memory === null || pids === null || !canMakeGroups(memory) || !canMakeGroups(pids)) return null;
  const cpuacct = folderOf('cpuacct');
  const parents: Folders = {
    memory,
    pids,
    cpuacct: cpuacct !== null && canMakeGroups(cpuacct) ? cpuacct : null,
  };
  await Promise.all(foldersOf(parents).map(removeOrphans));
  return {
    mechanism: 'cgroup v1',
    open: (limits) => openGroup(parents, randomBytes(6).toString('hex'), limits),
  };
}

function openGroup(parents: Folders, suffix: string, limits: SandboxLimits): LimitGroup {
  const name = ownedName(suffix);
  const memory = join(parents.memory, name);
  const pids = join(parents.pids, name);
  const cpuacct = parents.cpuacct === null ? null : join(parents.cpuacct, name);
  const knobs = new Map<string, CgroupSetting[]>(
    foldersOf({ memory, pids, cpuacct }).map((folder) => [folder, []]),
  );
  knobs.get(memory)?.push(...memoryKnobs(limits));
  knobs.get(pids)?.push({ file: 'pids.max', value: String(limits.processes) });
  const made: string[] = [];
  try {
    for (const [folder, values] of knobs) {
      makeGroup(folder, values);
      made.push(folder);
    }
  } catch (error) {
    for (const folder of made) rmdirSync(folder);
    throw error;
  }
  const count = (): GroupUsage => ({
    peakMemoryBytes: readNumber(join(memory, 'memory.max_usage_in_bytes')),
    cpuSeconds: cpuacct === null ? null : scaled(readNumber(join(cpuacct, 'cpuacct.usage')), nanosecond),
    outOfMemoryKills: readNumber(join(memory, 'memory.oom_control'), 'oom_kill') ?? 0,
  });
  let [before, last] = [nothingUsed, nothingUsed];
  return {
    joinFiles: made.map((folder) => join(folder, 'cgroup.procs')),
    members: () => membersOf(pids),
    usage: () => {
      last = count();
      return usageSince(before, last);
    },
    renew: () => {
      before = last;
      const left = readNumber(join(memory, 'memory.usage_in_bytes')) ?? maxLeft;
      return left < maxLeft && trySetKnob(memory, { file: 'memory.max_usage_in_bytes', value: '0' });
    },
    close: async () => {
      for (const folder of made) await removeGroup(folder);
    },
  };
}

/**
 * Swap is included if the kernel accounts for it; otherwise swapping is discouraged. Memory of connections has a
 * separate count, which begins with a limit.
 */
function memoryKnobs(limits: SandboxLimits): CgroupSetting[] {
  const value = String(limits.memoryBytes);
  return [
    { file: 'memory.limit_in_bytes', value },
    { file: 'memory.memsw.limit_in_bytes', value, optional: true },
    { file: 'memory.kmem.tcp.limit_in_bytes', value, optional: true },
    { file: 'memory.swappiness', value: '0', optional: true },
  ];
}

function foldersOf(folders: Folders): string[] {
  const all = [folders.memory, folders.pids, folders.cpuacct].filter((folder) => folder !== null);
  return [...new Set(all)];
}

function scaled(value: number | null, unit: number): number | null {
  return value === null ? null : value * unit;
}

/** Permission bits say little here (root ignores them, a read-only mount overrides them), so it is tried. */
function canMakeGroups(parent: string): boolean {
  const folder = join(parent, ownedName('probe'));
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
